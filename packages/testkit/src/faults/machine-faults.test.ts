import { expect, test } from 'vitest'
import { oneInTurn, ROTATIONS } from '../rotation.ts'
import { KINDS_OF_FAULTS, PROMOTING_FAULTS } from './machine-faults.ts'

test('each run has a fault of each kind, and as many runs as the rotation has slices have every fault', () => {
  for (const kind of KINDS_OF_FAULTS) {
    const inThisRun = oneInTurn('promotion-faults', kind)
    expect(inThisRun.length).toBeGreaterThan(0)
    expect(inThisRun.every((fault) => PROMOTING_FAULTS.includes(fault))).toBe(true)
    expect(kind.length).toBeLessThanOrEqual(ROTATIONS['promotion-faults'])
  }
})
