// CPU time of processes from /proc, in microseconds. On a shared machine the CPU cost of an operation is more reliable
// than a rate.

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

/** CPU time of the whole machine. Without the CPU time of the benchmark's own processes, it is the load of all others. */
export function busyMicros(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) * TICK_US
}

const REST_MS = 2000

/** Cores in use on the machine while all processes of the benchmark are started and idle. */
export async function coresWhileIdle(): Promise<number> {
  const before = { busy: busyMicros(), at: performance.now() }
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  return (busyMicros() - before.busy) / ((performance.now() - before.at) * 1000)
}

const POLL_MS = 100
const QUIET_SHARE = 0.05
const QUIET_POLLS = 3
const MAX_POLLS = 200

/** Waits until these processes are idle. Otherwise background compaction would be charged to the next measurement. */
export async function untilQuiet(pids: readonly number[]): Promise<void> {
  let quiet = 0
  for (let poll = 0; poll < MAX_POLLS && quiet < QUIET_POLLS; poll += 1) {
    const before = cpuMicros(pids)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    const share = (cpuMicros(pids) - before) / (POLL_MS * 1000)
    quiet = share <= QUIET_SHARE * pids.length ? quiet + 1 : 0
  }
}
