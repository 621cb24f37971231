// The fencer as a process, with real cgroups of v1 and v2 and real processes. No agent and no engine takes part.

import type { ChildProcess } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FencedGroup } from '@holdfast/core/promotion/fencer-groups'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bootClockMs } from './boot-clock.ts'
import {
  endOf,
  type FencerProcess,
  groupOf,
  HIERARCHIES,
  makeCgroup,
  ROOT,
  removeCgroup,
  runIn,
  startFencer,
  writesIn,
  writing,
} from './fencer.fixture.ts'
import { encodeDeadlines } from './fencer-files.ts'

/** The version of cgroups does not matter to some tests. */
const onFirst = ({ hierarchy }: (typeof HIERARCHIES)[number]) => hierarchy === HIERARCHIES[0]?.hierarchy
const NEVER = Number.POSITIVE_INFINITY
const SLEEP = 'exec sleep 3600'
/** Ways in which the deadlines become unusable. */
const SPOILED: [string, (path: string) => void][] = [
  ['broken', (path) => writeFileSync(path, '{"boot":')],
  ['removed', (path) => rmSync(path)],
  ['emptied of its groups', (path) => writeFileSync(path, encodeDeadlines({ boot: 'b', groups: [] }))],
]
const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null

describe.each(HIERARCHIES)('the fencer with cgroup $version', (kernel) => {
  const { version, hierarchy, freeze } = kernel
  const itOnce = it.runIf(onFirst(kernel))
  let fencer: FencerProcess
  const cgroups: string[] = []
  beforeAll(async () => {
    fencer = await startFencer()
  })
  afterAll(async () => {
    await renew(groupOf('all', 1, cgroups))
    await untilEmpty('all')
    for (const cgroup of cgroups) await removeCgroup(cgroup)
    await fencer.remove()
  })

  const newCgroup = (): string => {
    cgroups.push(makeCgroup(hierarchy))
    return cgroups.at(-1) ?? ''
  }
  const newFile = (): string => join(fencer.folder, uniqueName('file'))
  const isIn = (child: ChildProcess, cgroup: string): boolean =>
    readFileSync(join(cgroup, 'cgroup.procs'), 'utf8').split('\n').includes(String(child.pid))
  const startWriter = async (cgroup: string, file: string): Promise<ChildProcess> => {
    const child = runIn(cgroup, writing(file))
    await waitUntil(() => writesIn(file).firstMs > 0, { what: 'the writer writes' })
    return child
  }
  const renew = (...groups: FencedGroup[]) => fencer.link.renew(groups)
  const untilEmpty = (name: string) =>
    fencer.until('the writers are gone', ({ fences }) => fences.get(name)?.emptyMs !== undefined)

  itOnce('keeps calm while the lease is renewed', async () => {
    const [cgroup, name] = [newCgroup(), uniqueName('vol')]
    const writer = runIn(cgroup, SLEEP)
    const firstFenceMs = bootClockMs() + 2_500
    while (bootClockMs() < firstFenceMs + 200) {
      await renew(groupOf(name, bootClockMs() + 2_000 + 2_500, [cgroup]))
      await delay(50)
    }
    expect([isRunning(writer), await fencer.link.guards(name)]).toEqual([true, true])
    await renew(groupOf(name, NEVER, [cgroup]))
  })

  it('kills all writers before the lease ends, also stopped and frozen ones', async () => {
    const [cgroup, name, file] = [newCgroup(), uniqueName('vol'), newFile()]
    const child = makeCgroup(cgroup)
    const writer = await startWriter(cgroup, file)
    const [stopped, frozen] = [runIn(cgroup, SLEEP), runIn(child, SLEEP)]
    await waitUntil(() => isIn(stopped, cgroup) && isIn(frozen, child), { what: 'all are there' })
    stopped.kill('SIGSTOP')
    // As a paused container, or one that an agent froze before it died.
    const [control = '', value = ''] = freeze
    writeFileSync(join(child, control), value)
    expect(await fencer.link.guards(name)).toBe(false)
    await renew(groupOf(name, bootClockMs() + 60_000, [cgroup]))
    await fencer.until('it knows the group', ({ groups }) => groups.some((group) => group.name === name))
    expect(await fencer.link.guards(name)).toBe(true)
    expect([writer, stopped, frozen].map(isRunning)).toEqual([true, true, true])

    const leaseEndMs = bootClockMs() + 2_000 + 500
    await renew(groupOf(name, leaseEndMs, [cgroup]))
    const { fences } = await untilEmpty(name)
    const { lastMs } = writesIn(file)
    const { sinceMs = 0, emptyMs = NEVER, epoch } = fences.get(name) ?? {}
    process.stdout.write(
      `fencer, ${version}: begun ${leaseEndMs - sinceMs} ms and done ${leaseEndMs - emptyMs} ms before the end of the lease, last write ${Math.round(leaseEndMs - lastMs)} ms before it\n`,
    )
    expect([epoch, await fencer.link.guards(name)]).toEqual([3, false])
    expect(Math.max(emptyMs, lastMs)).toBeLessThan(leaseEndMs)
    await waitUntil(() => ![writer, stopped, frozen].some(isRunning), { what: 'all have exited' })
  })

  it('kills what appears behind a fence, until the lease is renewed', async () => {
    const [cgroup, name] = [newCgroup(), uniqueName('vol')]
    await renew(groupOf(name, 1, [cgroup]))
    await untilEmpty(name)
    for (let count = 0; count < inRun(5, 100); count += 1) {
      const file = newFile()
      const late = runIn(cgroup, `echo $(cat /proc/uptime) >> ${file}; ${writing(file)}`)
      await endOf(late)
      expect(late.signalCode).toBe('SIGKILL')
    }

    await renew(groupOf(name, bootClockMs() + 60_000, [cgroup]))
    await fencer.until('the fence is lifted', ({ fences }) => !fences.has(name))
    const file = newFile()
    const writer = await startWriter(cgroup, file)
    const { firstMs } = writesIn(file)
    await waitUntil(() => writesIn(file).lastMs - firstMs > 300, { what: 'the writer continues' })
    expect(isRunning(writer)).toBe(true)
    writer.kill('SIGKILL')
    await renew(groupOf(name, NEVER, [cgroup]))
  })

  itOnce('fences groups of another boot, and never those that need no promise', async () => {
    const [old, solo] = [newCgroup(), newCgroup()]
    const [oldName, soloName] = [uniqueName('vol'), uniqueName('vol')]
    const [ending, staying] = [runIn(old, SLEEP), runIn(solo, SLEEP)]
    await waitUntil(() => isIn(ending, old) && isIn(staying, solo), { what: 'both are there' })
    const groups = [groupOf(oldName, bootClockMs() + 60_000, [old]), groupOf(soloName, NEVER, [solo])]
    const text = encodeDeadlines({ boot: 'another boot', groups })
    writeFileSync(join(fencer.folder, 'deadlines.json'), text)
    await endOf(ending)
    const { fences } = await untilEmpty(oldName)
    expect([fences.has(soloName), isRunning(staying)]).toEqual([false, true])
    await renew(...groups.map((group) => ({ ...group, leaseEndMs: NEVER })))
  })

  itOnce.each(SPOILED)('fences a group at its last known deadline if the file is %s', async (_, spoil) => {
    const [cgroup, name, file] = [newCgroup(), uniqueName('vol'), newFile()]
    const writer = await startWriter(cgroup, file)
    const leaseEndMs = bootClockMs() + 2_000 + 700
    await renew(groupOf(name, leaseEndMs, [cgroup]))
    await fencer.until('it knows the group', ({ groups }) => groups.some((group) => group.name === name))
    spoil(join(fencer.folder, 'deadlines.json'))
    await untilEmpty(name)
    await waitUntil(() => !isRunning(writer), { what: 'the writer has exited' })
    expect(writesIn(file).lastMs).toBeLessThan(leaseEndMs)
    await renew(groupOf(name, NEVER, [cgroup]))
  })

  itOnce('a fencer that is killed and started again fences what its predecessor watched', async () => {
    const [cgroup, name] = [newCgroup(), uniqueName('vol')]
    const writer = runIn(cgroup, SLEEP)
    await renew(groupOf(name, bootClockMs() + 2_000 + 1_500, [cgroup]))
    await fencer.until('it knows the group', ({ groups }) => groups.some((group) => group.name === name))
    await fencer.kill()
    rmSync(join(fencer.folder, 'deadlines.json'))
    expect(isRunning(writer)).toBe(true)
    const ended = endOf(writer)
    fencer = await startFencer(fencer.folder)
    await ended
    await untilEmpty(name)
    await renew(groupOf(name, NEVER, [cgroup]))
  })
})

/** CPU time of a process in milliseconds, and its resident memory in MiB. */
function costOf(pid: number): { readonly cpuMs: number; readonly residentMib: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // The clock of these fields has 100 ticks per second on every Linux; a page has 4 KiB on the tested machines.
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
    residentMib: Math.round((Number(fields[21]) * 4) / 1024),
  }
}

/** Rounds in which the groups are renewed while the fencer is measured. */
const AT_REST = inRun(1, 30)
const ROUND_MS = 2_000

it('50 groups at rest cost little', async () => {
  const fencer = await startFencer()
  const names = Array.from({ length: 50 }, () => uniqueName('vol'))
  const renew = () =>
    fencer.link.renew(names.map((name) => groupOf(name, bootClockMs() + 12_000, [join(ROOT, name)])))
  await renew()
  await fencer.until('it knows all', ({ groups }) => groups.length === names.length)
  const before = costOf(fencer.pid).cpuMs
  for (let round = 0; round < AT_REST; round += 1) {
    await delay(ROUND_MS)
    await renew()
  }
  const { cpuMs, residentMib } = costOf(fencer.pid)
  const percent = ((cpuMs - before) / (AT_REST * ROUND_MS)) * 100
  await fencer.remove()
  process.stdout.write(
    `fencer: 50 groups at rest cost ${percent.toFixed(1)} % of a core and ${residentMib} MiB\n`,
  )
  expect(percent).toBeLessThan(10)
})
