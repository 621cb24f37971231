// The loop with a machine whose clock and processes the test sets. The real kernel is in fencer.real.test.ts.

import type { Deadlines, FencedGroup, FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { describe, expect, test } from 'vitest'
import { groupOf } from './fencer.fixture.ts'
import { createFencer, type FencerMachine } from './watch-groups.ts'

type Found = 'empty' | 'busy' | 'unknown'

function fakeMachine({ mayReboot = false } = {}) {
  const state = { nowMs: 1_000, found: 'empty' as Found, reboots: 0 }
  const [killed, unmounted, reports, messages]: [string[], string[], FencerReport[], string[]] = [
    [],
    [],
    [],
    [],
  ]
  let next: Deadlines | undefined
  const reboot = (): void => {
    state.reboots += 1
  }
  const machine: FencerMachine = {
    boot: 'b1',
    nowMs: () => state.nowMs,
    date: () => '2026-11-17T12:00:00.000Z',
    readDeadlines() {
      const read = next
      next = undefined
      return read
    },
    kill(cgroups) {
      killed.push(...cgroups)
      return new Map(cgroups.map((path) => [path, state.found]))
    },
    unmount: (paths) => void unmounted.push(...paths),
    report: (report) => void reports.push(report),
    reboot: mayReboot ? reboot : undefined,
    log: (_, message) => void messages.push(message),
  }
  const write = (...groups: FencedGroup[]): void => {
    next = { boot: 'b1', groups }
  }
  return { machine, state, killed, unmounted, reports, messages, write }
}

const LEASED = groupOf('a', 12_000, ['/cg/a'], { mounts: ['/mnt/a'] })

describe('the loop of the fencer', () => {
  test('waits at most 200 ms, and wakes when a fence begins', () => {
    const { machine, state, killed, write } = fakeMachine()
    const step = createFencer(machine, undefined)
    expect(step()).toBe(200)
    write(LEASED)
    state.nowMs = 9_950
    expect(step()).toBe(50)
    expect(killed).toEqual([])
    state.nowMs = 10_000
    expect(step()).toBeLessThanOrEqual(50)
    expect(killed).toEqual(['/cg/a'])
  })

  test('unmounts only when no process is left, and again if the fence stands', () => {
    const { machine, state, unmounted, reports, write } = fakeMachine()
    const step = createFencer(machine, undefined)
    write(LEASED)
    Object.assign(state, { nowMs: 10_000, found: 'busy' })
    step()
    expect(unmounted).toEqual([])
    Object.assign(state, { nowMs: 10_005, found: 'empty' })
    step()
    step()
    expect(unmounted).toEqual(['/mnt/a'])
    expect(reports.at(-1)?.fences.get('a')).toMatchObject({ sinceMs: 10_000, emptyMs: 10_005, epoch: 3 })
    state.nowMs = 10_600
    step()
    expect(unmounted).toEqual(['/mnt/a', '/mnt/a'])
  })

  test.each(['busy', 'unknown'] as const)('reboots once if the group is %s for two seconds', (found) => {
    const { machine, state, write } = fakeMachine({ mayReboot: true })
    const step = createFencer(machine, undefined)
    write(LEASED)
    Object.assign(state, { nowMs: 10_000, found })
    step()
    state.nowMs = 11_999
    step()
    expect(state.reboots).toBe(0)
    state.nowMs = 12_000
    step()
    step()
    expect(state.reboots).toBe(1)
  })

  test('does not reboot unless the operator allowed it, and logs once that writers are left', () => {
    const { machine, state, messages, write } = fakeMachine()
    const step = createFencer(machine, undefined)
    write(LEASED)
    Object.assign(state, { nowMs: 10_000, found: 'busy' })
    step()
    state.nowMs = 60_000
    step()
    step()
    expect(state.reboots).toBe(0)
    expect(messages.filter((message) => message.includes('cannot be killed'))).toHaveLength(1)
  })

  test('reports at once when it has read deadlines, and at least every second', () => {
    const { machine, state, reports, write } = fakeMachine()
    const step = createFencer(machine, undefined)
    step()
    step()
    expect(reports).toHaveLength(1)
    write(LEASED)
    step()
    expect(reports.at(-1)?.groups).toEqual([LEASED])
    state.nowMs += 1_000
    step()
    expect(reports).toHaveLength(3)
  })

  test('continues the fences of its predecessor with the time at which they began', () => {
    const { machine, state, reports } = fakeMachine()
    const fence = { epoch: 3, leaseEndMs: 12_000, sinceMs: 10_000, since: 'then', emptyMs: 10_020 }
    const before = { boot: 'b1', heartbeatMs: 10_100, groups: [LEASED], fences: new Map([['a', fence]]) }
    state.nowMs = 13_000
    createFencer(machine, before)()
    expect(reports.at(-1)?.fences.get('a')).toEqual(fence)
  })
})
