// A process that samples the writers on all machines of a lab, in the host's view. It prints a line at every change, and
// every second the longest time between two samples.

import { readFileSync } from 'node:fs'
import { argv, stdout } from 'node:process'
import { unfrozenBelow } from '../lab/cgroup-tree.ts'
import { bootClockMs } from '../lab/lab-disks.ts'

const SAMPLE_MS = 10
const REPORT_MS = 1_000
/** States of processes that run no instruction: stopped, traced, zombie, dead. */
const HALTED = 'TtZX'

const [marker = '', group = '', ...words] = argv.slice(2)
/** Name and cgroup of each machine. */
const machines = words.map((word) => word.split('='))

/** Undefined if the process has exited. */
function readProcess(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}

function isWriter(pid: number): boolean {
  if (readProcess(pid, 'cmdline')?.includes(marker) !== true) return false
  const state = readProcess(pid, 'stat')?.replace(/^.*\) /s, '')[0]
  return state !== undefined && !HALTED.includes(state)
}

/** Group and host name of the process's container; empty while the process is being started. */
function writerOf(pid: number): string {
  const environment = readProcess(pid, 'environ') ?? ''
  const read = (name: string) => environment.split('\0').find((entry) => entry.startsWith(`${name}=`))
  const [named, host] = [read(group), read('HOSTNAME')]
  return host === undefined ? '' : `${named?.slice(group.length + 1) ?? ''} ${host.slice('HOSTNAME='.length)}`
}

/**
 * The containers of the processes. One that is being started has no environment yet: it is a child of a known one, or it
 * is named by the next sample.
 */
const containersOf = (writers: readonly number[]): string[] =>
  [...new Set(writers.map(writerOf))].filter((name) => name !== '').sort()

/** Group and host name of the containers with a writer that can run, by machine. */
const sample = (): [string, string[]][] =>
  machines.flatMap(([name = '', cgroup = '']): [string, string[]][] => {
    const writers = unfrozenBelow(`${cgroup}/containers`).filter(isWriter)
    return writers.length === 0 ? [] : [[name, containersOf(writers)]]
  })

const print = (line: object): void => void stdout.write(`${JSON.stringify(line)}\n`)

let before = ''
let sampledMs = bootClockMs()
let longestGapMs = 0
let reportedMs = 0
const timer = new Int32Array(new SharedArrayBuffer(4))
for (;;) {
  const atMs = bootClockMs()
  longestGapMs = Math.max(longestGapMs, atMs - sampledMs)
  sampledMs = atMs
  const writers = sample()
  const now = JSON.stringify(writers)
  if (now !== before) print({ atMs, writers: Object.fromEntries(writers) })
  before = now
  if (atMs - reportedMs >= REPORT_MS) {
    print({ atMs, longestGapMs })
    reportedMs = atMs
  }
  Atomics.wait(timer, 0, 0, SAMPLE_MS)
}
