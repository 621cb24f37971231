// A fencer in a process of its own, started by the command of its systemd unit, and processes in cgroups for it to kill.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FencedGroup, FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import type { Leases } from '../ports/leases.ts'
import { createFencerLink, type FencerLink } from './fencer-link.ts'

const UNIT = new URL('../../holdfast-fencer.service', import.meta.url)
const PROGRAM = fileURLToPath(new URL('../fencer-main.ts', import.meta.url))
const UNIT_FOLDER = '/run/holdfast-fencer'

export const ROOT = '/sys/fs/cgroup'
/** A machine with cgroup v1 only, or v2 only, has one of them. */
export const HIERARCHIES = [
  { version: 'v1', hierarchy: join(ROOT, 'freezer'), freeze: ['freezer.state', 'FROZEN'] },
  { version: 'v2', hierarchy: join(ROOT, 'unified'), freeze: ['cgroup.freeze', '1'] },
  { version: 'v2', hierarchy: ROOT, freeze: ['cgroup.freeze', '1'] },
].filter(({ hierarchy }) => existsSync(join(hierarchy, 'cgroup.procs')))

export interface FencerProcess {
  readonly folder: string
  readonly link: FencerLink
  readonly pid: number
  /** Waits until the report fulfills the condition. */
  until(what: string, condition: (report: FencerReport) => boolean): Promise<FencerReport>
  /** Kills the fencer with SIGKILL. */
  kill(): Promise<void>
  /** Kills the fencer and removes its folder. */
  remove(): Promise<void>
}

/** The folder of its files is in memory, as that of the unit. */
export async function startFencer(folder = mkdtempSync('/dev/shm/holdfast-fencer-')): Promise<FencerProcess> {
  const line = /^ExecStart=\S+ (.*)$/m.exec(readFileSync(UNIT, 'utf8'))?.[1] ?? ''
  const args = line.replaceAll(UNIT_FOLDER, folder).split(' ')
  // The kernel ends the fencer with the test's process, however that ends.
  const command = ['--pdeathsig', 'KILL', process.execPath, PROGRAM, ...args]
  const child = spawn('setpriv', command, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = endOf(child)
  const link = createFencerLink(folder)
  const until: FencerProcess['until'] = (what, condition) =>
    waitUntil(
      async () => {
        const report = await link.report()
        return report !== undefined && condition(report) ? report : undefined
      },
      { what, intervalMs: 10 },
    )
  const before = (await link.report())?.heartbeatMs ?? 0
  await until('the fencer runs', ({ heartbeatMs }) => heartbeatMs > before)
  const kill = (): Promise<void> => {
    child.kill('SIGKILL')
    return ended
  }
  const remove = async (): Promise<void> => {
    await kill()
    rmSync(folder, { recursive: true })
  }
  return { folder, link, pid: child.pid ?? 0, until, kill, remove }
}

export const endOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => child.once('exit', () => resolve()))

/** Creates an empty cgroup below the given one. */
export function makeCgroup(hierarchy: string): string {
  const path = join(hierarchy, uniqueName('fencer'))
  mkdirSync(path)
  return path
}

/** Removes the cgroup and those below it. The kernel may need a moment after the last process has exited. */
export async function removeCgroup(path: string): Promise<void> {
  const inside = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of inside) await removeCgroup(join(path, name))
  const remove = (): true => {
    rmdirSync(path)
    return true
  }
  await waitUntil(remove, { what: `${path} is removed` })
}

/** Runs a script in the cgroup. */
export function runIn(cgroup: string, script: string): ChildProcess {
  return spawn('/bin/sh', ['-c', `echo 0 > ${cgroup}/cgroup.procs; ${script}`], { stdio: 'ignore' })
}

/** A writer: appends the boot clock to a file without pause, and forks for each line. */
export const writing = (file: string): string => `while :; do cat /proc/uptime >> ${file}; done`

/** First and last time in a file of a writer, in milliseconds. */
export function writesIn(file: string): { readonly firstMs: number; readonly lastMs: number } {
  const times = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => Number.parseFloat(line) * 1000)
  return { firstMs: times[0] ?? Number.NaN, lastMs: times.at(-1) ?? Number.NaN }
}

export const groupOf = (
  name: string,
  leaseEndMs: number,
  cgroups: readonly string[],
  over: Partial<FencedGroup> = {},
): FencedGroup => ({
  name,
  epoch: 3,
  volumes: [name],
  cgroups,
  mounts: [],
  leaseEndMs,
  fenceMs: 2_000,
  ...over,
})

/** Leases that the test sets, all with the same end; unknown at first. */
export function settableLeases() {
  let endMs = Number.NEGATIVE_INFINITY
  const listeners: (() => void)[] = []
  const leases: Leases = { endMs: () => endMs, onChange: (listener) => void listeners.push(listener) }
  const set = (next: number): void => {
    endMs = next
    for (const listener of listeners) listener()
  }
  return { leases, set }
}
