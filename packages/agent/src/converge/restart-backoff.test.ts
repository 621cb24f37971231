import { asVolumeId, defined } from '@holdfast/contract'
import type { ContainerState, OwnContainer, ReplicaView, SeenContainer } from '@holdfast/core/node'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { createRestartBackoff } from './restart-backoff.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`
const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const MOUNT = { volume: VOLUME, target: '/data', type: 'volume' as const, readOnly: true }
const START_MS = Date.parse('2026-11-17T09:00:00Z')
const time = (ms: number): string => new Date(START_MS + ms).toISOString()

function world(mounts = [MOUNT]) {
  const item = desiredItem(IMAGE, { mounts })
  let nowMs = 0
  let seen: SeenContainer | 'unknown' = 'unknown'
  let exitCause: ReplicaView['exitCause']
  const view = (): ReplicaView => ({
    item,
    container: seen,
    ...{ activity: undefined, creating: false, trouble: '', about: '', cause: '' },
    ...{ unverified: false, readySince: undefined, exitCause },
  })
  const backoff = createRestartBackoff({ view }, () => nowMs)
  const listed = (id: string, state: ContainerState): OwnContainer => {
    const { assignmentId, generation, owner } = item
    return { id, name: 'web', state, createdAt: 1, assignmentId, generation, owner }
  }
  return {
    dueIn: (state: ContainerState = 'exited', id = 'c') => backoff.dueInMs(item, listed(id, state)),
    see(state: ContainerState, startedMs: number, endedMs?: number, id = 'c') {
      const lastExit = endedMs === undefined ? undefined : { code: 1, at: time(endedMs) }
      const run = {
        startedAt: time(startedMs),
        exitCode: 1,
        restarts: 0,
        health: 'none',
        address: null,
      } as const
      seen = { id, state, ...run, ...defined({ lastExit }) }
    },
    fence(endedMs: number) {
      exitCause = { at: time(endedMs), text: 'the lease ended', isFenced: true }
    },
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('delays each restart longer than the one before, and none once the delay is over', () => {
  const { see, dueIn, pass } = world()
  see('exited', 0, 10)
  expect(dueIn()).toBe(100)
  pass(60)
  expect(dueIn()).toBe(40)
  pass(40)
  expect(dueIn()).toBe(0)
  see('exited', 120, 130)
  expect(dueIn()).toBe(200)
  pass(200)
  see('exited', 400, 10_400)
  expect(dueIn()).toBe(100)
})

test('a new container of the assignment starts with the first delay', () => {
  const { see, dueIn, pass } = world()
  for (const end of [10, 20, 30]) {
    see('exited', 0, end)
    dueIn()
    pass(1000)
  }
  see('exited', 100, 110, 'other')
  expect(dueIn('exited', 'other')).toBe(100)
})

test('waits for the inspection of an exit that only the list shows', () => {
  const { see, dueIn } = world()
  expect(dueIn()).toBe(250)
  see('running', 0, undefined)
  expect(dueIn()).toBe(250)
})

test('a container that never ran, could not start, or is restarted by the engine is not delayed', () => {
  const { see, dueIn } = world()
  expect(dueIn('created')).toBe(0)
  see('exited', 0, undefined)
  expect(dueIn()).toBe(0)
  expect(world([]).dueIn()).toBe(0)
})

test('an exit that the fencer caused is neither delayed nor makes later delays longer', () => {
  const { see, dueIn, fence, pass } = world()
  see('exited', 0, 10)
  expect(dueIn()).toBe(100)
  pass(100)
  see('exited', 100, 110)
  fence(110)
  expect(dueIn()).toBe(0)
  see('exited', 200, 210)
  expect(dueIn()).toBe(200)
})
