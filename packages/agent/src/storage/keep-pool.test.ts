import pino from 'pino'
import { expect, test } from 'vitest'
import { PoolError, type PoolFacts, type VolumePool } from '../ports/volume-pool.ts'
import { createPoolKeeper } from './keep-pool.ts'

const FACTS: PoolFacts = { fileSystemId: 'fs-1', poolBytes: 1000, usedBytes: 10 }
const log = pino({ level: 'silent' })

/** A pool of which only the measurement is used. */
const poolWith = (inspect: () => Promise<PoolFacts>): VolumePool => {
  const unused = (): never => {
    throw new Error('not used here')
  }
  const changes = { provision: unused, remove: unused, retire: unused, flush: unused, list: unused }
  const notes = { readNotes: unused, writeNote: unused, removeNote: unused, countNested: unused }
  const checkpoints = { takeCheckpoint: unused, removeCheckpoint: unused, restore: unused, send: unused }
  const listed = { listQuarantined: unused, removeQuarantined: unused, readQuarantined: unused }
  return { inspect, ...changes, quarantine: unused, ...listed, ...notes, ...checkpoints, receive: unused }
}

test('reports a pool that is lost and found again', async () => {
  let fault: Error | undefined = new PoolError('missing', 'absent')
  let opened = 0
  const inspect = async (): Promise<PoolFacts> => {
    if (fault !== undefined) throw fault
    return FACTS
  }
  const open = async (): Promise<VolumePool> => {
    await inspect()
    opened += 1
    return poolWith(inspect)
  }
  const keeper = createPoolKeeper({ open, log })
  const stateWith = async (next: Error | undefined) => {
    fault = next
    await keeper.check()
    return keeper.state()
  }
  expect(keeper.state()).toEqual({ poolFault: 'pool_unreadable' })
  expect(await stateWith(fault)).toEqual({ poolFault: 'pool_missing' })
  expect(await stateWith(undefined)).toEqual({ storage: FACTS })
  expect(await stateWith(undefined)).toEqual({ storage: FACTS })
  expect(opened).toBe(1)
  expect(await stateWith(new PoolError('changed', 'other'))).toEqual({ poolFault: 'pool_changed' })
  expect(await stateWith(new Error('EIO'))).toEqual({ poolFault: 'pool_unreadable' })
  expect(await stateWith(undefined)).toEqual({ storage: FACTS })
  expect(opened).toBe(2)
  keeper.close()
})

test('runs one check at a time', async () => {
  let release = (): void => {}
  let opened = 0
  const open = async (): Promise<VolumePool> => {
    opened += 1
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return poolWith(async () => FACTS)
  }
  const keeper = createPoolKeeper({ open, log })
  const [first, second] = [keeper.check(), keeper.check()]
  release()
  await Promise.all([first, second])
  expect([opened, keeper.state()]).toEqual([1, { storage: FACTS }])
  keeper.close()
})
