// Is a process there, and is it still the same one? A process id alone is given to another process sooner or later.

import { readdirSync, readFileSync } from 'node:fs'

/** Is there a process with this id, a zombie not counted? */
export function isAlive(pid: number): boolean {
  const fields = readStat(pid)
  return fields !== undefined && fields[0] !== 'Z'
}

/** A process that can be found again later, and told from another that was given the same id since. */
export interface ProcessRecord {
  readonly pid: number
  readonly startTicks: string
}

export function recordProcess(pid: number): ProcessRecord {
  const startTicks = readStat(pid)?.[19]
  if (startTicks === undefined) throw new Error(`There is no process ${pid}.`)
  return { pid, startTicks }
}

export function isRecordedAlive(record: ProcessRecord): boolean {
  return isAlive(record.pid) && readStat(record.pid)?.[19] === record.startTicks
}

/** Ends exactly the recorded process; false when it had gone before. */
export function endRecordedProcess(record: ProcessRecord): boolean {
  if (!isRecordedAlive(record)) return false
  process.kill(record.pid, 'SIGKILL')
  return true
}

/** Returns when every thread of a process that was sent SIGSTOP has stopped: a running one may still answer a request. */
export function waitUntilStopped(pid: number): void {
  const deadline = performance.now() + 5_000
  while (!isStopped(pid) && performance.now() < deadline) waitBriefly(1)
}

/** For loops that must not yield, such as those of an exit handler. */
export function waitBriefly(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function isStopped(pid: number): boolean {
  if (!isAlive(pid)) return true
  return readdirSync(`/proc/${pid}/task`).every((thread) => readStat(`${pid}/task/${thread}`)?.[0] === 'T')
}

/** The fields of /proc/<pid>/stat from the state on; what comes before holds a name that may contain anything. */
function readStat(pid: number | string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
