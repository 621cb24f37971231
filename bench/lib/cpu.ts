// CPU time of processes, from /proc, in microseconds: a rate says little on a shared machine, the cost of one operation
// says more.

import { readFileSync } from 'node:fs'

const TICK_US = 10_000

export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid) * TICK_US, 0)
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Of the whole machine: what ran beside us shows as the difference. */
export function busyMicros(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) * TICK_US
}

const REST_MS = 2000

/** Cores that the whole machine uses while a bench has everything started and nothing to do. */
export async function coresAtRest(): Promise<number> {
  const before = { busy: busyMicros(), at: performance.now() }
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  return (busyMicros() - before.busy) / ((performance.now() - before.at) * 1000)
}

const LOOK_MS = 100
const QUIET_SHARE = 0.05
const QUIET_LOOKS = 3
const MAX_LOOKS = 200

/** Waits until these processes rest: what a store still compacts in the background would be charged to the next side. */
export async function untilQuiet(pids: readonly number[]): Promise<void> {
  let quiet = 0
  for (let look = 0; look < MAX_LOOKS && quiet < QUIET_LOOKS; look += 1) {
    const before = cpuMicros(pids)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const share = (cpuMicros(pids) - before) / (LOOK_MS * 1000)
    quiet = share <= QUIET_SHARE * pids.length ? quiet + 1 : 0
  }
}
