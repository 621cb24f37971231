// Which processes belong to the platform: written down with their start times, since a process id alone is given to
// another process sooner or later.

import { existsSync, readFileSync } from 'node:fs'
import { isAlive, type ProcessRecord, recordProcess } from '@holdfast/testkit'
import { type DevFolder, writePrivate } from './dev-folder.ts'

export interface ListedProcess extends ProcessRecord {
  readonly name: string
}

/** The name of the process that all others die with. */
export const KEEPER = 'keeper'

export function listProcesses({ processes }: DevFolder): ListedProcess[] {
  if (!existsSync(processes)) return []
  const listed: unknown = JSON.parse(readFileSync(processes, 'utf8'))
  return Array.isArray(listed) ? listed.filter(isListedProcess) : []
}

export function addProcess(folder: DevFolder, name: string, pid: number): void {
  const all = [...listProcesses(folder), { name, ...recordProcess(pid) }]
  writePrivate(folder.processes, `${JSON.stringify(all, null, 2)}\n`)
}

/** Is this very process there, not another one under the same id? */
export function isRunning({ pid, startTicks }: ProcessRecord): boolean {
  try {
    return recordProcess(pid).startTicks === startTicks && isAlive(pid)
  } catch {
    return false
  }
}

function isListedProcess(value: unknown): value is ListedProcess {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'startTicks' in value &&
    typeof value.startTicks === 'string'
  )
}
