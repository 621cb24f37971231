// Checks whether a recorded process still exists. A process id alone is not enough, because the kernel reuses ids.

import { readdirSync, readFileSync } from 'node:fs'

/** True if a process with this id exists that is not a zombie. */
export function isAlive(pid: number): boolean {
  const fields = readStat(pid)
  return fields !== undefined && fields[0] !== 'Z'
}

/** Data that identifies a process later, even if its process id has been reused. */
export interface ProcessRecord {
  readonly pid: number
  readonly startTicks: string
}

export function recordProcess(pid: number): ProcessRecord {
  const startTicks = readStat(pid)?.[19]
  if (startTicks === undefined) throw new Error(`process ${pid} does not exist`)
  return { pid, startTicks }
}

export function isRecordedAlive(record: ProcessRecord): boolean {
  return isAlive(record.pid) && readStat(record.pid)?.[19] === record.startTicks
}

/** Ends exactly the recorded process; returns false if that process had already exited. */
export function endRecordedProcess(record: ProcessRecord): boolean {
  if (!isRecordedAlive(record)) return false
  process.kill(record.pid, 'SIGKILL')
  return true
}

/** Waits until every thread of a process has stopped after SIGSTOP, because a running thread could still answer. */
export function waitUntilStopped(pid: number): void {
  const deadline = performance.now() + 5_000
  while (!isStopped(pid) && performance.now() < deadline) waitBriefly(1)
}

/** Blocks the thread for a short time, for loops that must not yield, such as loops in an exit handler. */
export function waitBriefly(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function isStopped(pid: number): boolean {
  if (!isAlive(pid)) return true
  return readdirSync(`/proc/${pid}/task`).every((thread) => readStat(`${pid}/task/${thread}`)?.[0] === 'T')
}

/** The fields of /proc/<pid>/stat after the process name. The name itself may contain spaces and parentheses. */
function readStat(pid: number | string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
