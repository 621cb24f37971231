// Ordinary files stand in for the files of cgroups, and tests decide when the kernel has frozen the processes.

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { asVolumeId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createWriterFreezer } from './freeze-writers.ts'

const [FIRST, SECOND] = [
  asVolumeId('vol_01JCPZ0000000000000000000A'),
  asVolumeId('vol_01JCPZ0000000000000000000B'),
]
const FORMS = [
  { name: 'cgroup v1', parent: 'freezer/holdfast', prefix: '', suffix: '', isUnified: false },
  { name: 'cgroup v2', parent: 'holdfast', prefix: '', suffix: '', isUnified: true },
  {
    name: 'cgroup v2 with systemd',
    parent: 'holdfast.slice',
    prefix: 'holdfast-',
    suffix: '.slice',
    isUnified: true,
  },
]

function makeCgroups(form: (typeof FORMS)[number], kernel: 'fast' | 'slow') {
  const { parent, prefix, suffix, isUnified } = form
  const { path: root } = makeTempFolder('cgroups')
  if (isUnified) mkdirSync(join(root, 'cgroup.controllers'))
  const file = (volume: string, name: string) => join(root, parent, `${prefix}${volume}${suffix}`, name)
  const setFrozen = (volume: string, isFrozen: boolean): void => {
    if (isUnified) writeFileSync(file(volume, 'cgroup.events'), `populated 1\nfrozen ${+isFrozen}\n`)
    if (isUnified) return
    // The link must not be followed.
    rmSync(file(volume, 'freezer.state'), { force: true })
    writeFileSync(file(volume, 'freezer.state'), isFrozen ? 'FROZEN\n' : 'FREEZING\n')
  }
  for (const volume of [FIRST, SECOND]) {
    mkdirSync(file(volume, ''), { recursive: true })
    if (isUnified) setFrozen(volume, kernel === 'fast')
    if (isUnified) writeFileSync(file(volume, 'cgroup.freeze'), '0\n')
    // The state must not read as frozen right after the write.
    else if (kernel === 'slow') symlinkSync('/dev/null', file(volume, 'freezer.state'))
    else writeFileSync(file(volume, 'freezer.state'), 'THAWED\n')
  }
  const requested = (volume: string): string =>
    readFileSync(file(volume, isUnified ? 'cgroup.freeze' : 'freezer.state'), 'utf8').trim()
  return { root, setFrozen, requested }
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each(FORMS)('$name', (form) => {
  const [frozen, thawed] = form.isUnified ? ['1', '0'] : ['FROZEN', 'THAWED']

  test('freezes and thaws only the cgroup of the group, which has the name of its first volume', async () => {
    const { root, requested } = makeCgroups(form, 'fast')
    const thaw = await createWriterFreezer('holdfast', root).freeze([SECOND, FIRST])
    expect([requested(FIRST), requested(SECOND)]).toEqual([frozen, thawed])
    await thaw()
    expect([requested(FIRST), requested(SECOND)]).toEqual([thawed, thawed])
  })

  test('waits until the kernel has frozen the writers', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { root, setFrozen } = makeCgroups(form, 'slow')
    let isFrozen = false
    const freezing = createWriterFreezer('holdfast', root)
      .freeze([FIRST])
      .then(() => {
        isFrozen = true
      })
    await setImmediate()
    expect(isFrozen).toBe(false)
    setFrozen(FIRST, true)
    await freezing
    expect(isFrozen).toBe(true)
  })

  test('thaws and rejects if the writers are not frozen in time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { root, setFrozen, requested } = makeCgroups(form, 'slow')
    const freezing = createWriterFreezer('holdfast', root).freeze([FIRST])
    const outcome = expect(freezing).rejects.toThrow('was not frozen within 2000 ms')
    setFrozen(FIRST, false)
    vi.advanceTimersByTime(3_000)
    await outcome
    expect(requested(FIRST)).toBe(thawed)
  })

  test('thaws the writers of all volumes', async () => {
    const { root, requested } = makeCgroups(form, 'fast')
    const freezer = createWriterFreezer('holdfast', root)
    for (const volume of [FIRST, SECOND]) await freezer.freeze([volume])
    expect([requested(FIRST), requested(SECOND)]).toEqual([frozen, frozen])
    freezer.thawAll()
    expect([requested(FIRST), requested(SECOND)]).toEqual([thawed, thawed])
  })
})

test('finds nothing to freeze for a volume without a cgroup, and on a machine without cgroups', async () => {
  const { path: root } = makeTempFolder('cgroups')
  for (const folder of [root, '/nonexistent']) {
    const freezer = createWriterFreezer('holdfast', folder)
    const thaw = await freezer.freeze([FIRST])
    await thaw()
    freezer.thawAll()
  }
})
