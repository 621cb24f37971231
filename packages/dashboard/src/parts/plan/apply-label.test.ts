import type { Effects, PlanStep } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { applyLabel } from './apply-label.ts'
import { needsName } from './confirm-weight.ts'

const NONE: Effects = {
  ...{
    moves: [],
    restarts: [],
    stops: [],
    unplaced: [],
    unrouted: [],
    lostData: [],
    lowestReady: [],
    omitted: [],
  },
}
const replaced = { deployment: 'shop', replica: 1, from: 'a', to: 'b', reason: 'restart' } as const
const started = { replica: 4, nodeName: 'a', reason: 'new_replica' } as const
const unrouted = { deployment: 'shop', host: 'shop.example.com', path: '/' } as const

test('the button names every effect, or that there is none', () => {
  const steps: PlanStep[] = [
    { deployment: 'shop', kind: 'start', replicas: [started], lowestReady: 3, text: '' },
    { deployment: 'shop', kind: 'replace', replicas: [started], lowestReady: 3, text: '' },
  ]
  const effects = { ...NONE, restarts: [replaced, { ...replaced, replica: 2 }] }
  expect(applyLabel('Apply', { steps, effects })).toBe('Apply: recreate 2 containers, start 1 container')
  expect(applyLabel('Apply', { steps: [], effects: NONE })).toBe('Apply: no container changes')
})

test('the name is typed where data or a service is gone, and not for a restart', () => {
  const restarted: Effects = { ...NONE, restarts: [replaced] }
  expect(needsName({ action: 'update', effects: restarted })).toBe(false)
  expect(needsName({ action: 'delete', effects: NONE })).toBe(true)
  const lostData = [{ volume: 'data', reason: 'last copy' }]
  expect(needsName({ action: 'update', effects: { ...NONE, lostData } })).toBe(true)
  const removed = [{ ...unrouted, reason: 'route_removed' } as const]
  expect(needsName({ action: 'update', effects: { ...NONE, unrouted: removed } })).toBe(true)
})

test('a route without a ready replica needs the name only if none is desired', () => {
  const gone = [{ ...unrouted, reason: 'no_ready_replica' } as const]
  const lowest = (desired: number) => [{ deployment: 'shop', ready: 0, desired, reason: '' }]
  expect(needsName({ action: 'update', effects: { ...NONE, unrouted: gone, lowestReady: lowest(1) } })).toBe(
    false,
  )
  expect(needsName({ action: 'update', effects: { ...NONE, unrouted: gone, lowestReady: lowest(0) } })).toBe(
    true,
  )
})
