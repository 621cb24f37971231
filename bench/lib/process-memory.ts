// Memory use and written bytes of other processes, from /proc.

import { readdirSync, readFileSync } from 'node:fs'

const statusMiB = (pid: number, field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

export const residentMiB = (pid: number): number => statusMiB(pid, 'VmRSS')

/** Peak memory of the process in MiB. */
export const peakMiB = (pid: number): number => statusMiB(pid, 'VmHWM')

/** Number of bytes that the process has written since its start. */
export function writtenBytes(pid: number): number {
  return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}

/** Finds the only process whose command line has all these words. */
export function findProcess(words: readonly string[]): number {
  const found = readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false
    const line = commandLine(entry)
    return words.every((word) => line.includes(word))
  })
  if (found.length !== 1) throw new Error(`${found.length} processes have the words ${words.join(' ')}`)
  return Number(found[0])
}

function commandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // The process exited while the list was read.
    return []
  }
}
