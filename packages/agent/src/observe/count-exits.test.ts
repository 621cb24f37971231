import type { ExitCause, ReplicaView, SeenContainer } from '@holdfast/core/node'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { countExits } from './count-exits.ts'

const AT = '2026-11-17T09:00:00Z'
const LATER = '2026-11-17T09:01:00Z'
const item = desiredItem(`registry.example.com/db@sha256:${'a'.repeat(64)}`)

function world() {
  const counts = new Map<string, { containerId: string; count: number; lastAt: string }>()
  const store = {
    of: (containerId: string) => counts.get(containerId),
    note: (containerId: string, count: number, lastAt: string) =>
      void counts.set(containerId, { containerId, count, lastAt }),
  }
  return (at: string, exitCause?: ExitCause) => {
    const run = { startedAt: AT, exitCode: 137, restarts: 0, health: 'none', address: null } as const
    const seen: SeenContainer = { id: 'c', state: 'exited', ...run, lastExit: { code: 137, at } }
    const view: ReplicaView = {
      ...{
        item,
        container: 'unknown',
        activity: undefined,
        creating: false,
        trouble: '',
        about: '',
        cause: '',
      },
      ...{ unverified: false, readySince: undefined, exitCause },
    }
    return countExits(store, view, at, seen).restarts
  }
}

test('counts each exit once', () => {
  const restartsAfter = world()
  expect([restartsAfter(AT), restartsAfter(AT), restartsAfter(LATER)]).toEqual([1, 1, 2])
})

test('does not count an exit that the fencer caused, also if its cause is no longer known', () => {
  const restartsAfter = world()
  const fenced = { at: AT, text: 'the lease ended', isFenced: true }
  expect([restartsAfter(AT, fenced), restartsAfter(AT), restartsAfter(LATER, fenced)]).toEqual([0, 0, 1])
})
