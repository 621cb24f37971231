// The list of the platform's processes. It includes their start times, because the system reuses process ids.

import { existsSync, readFileSync } from 'node:fs'
import { isAlive, type ProcessRecord, recordProcess } from '@holdfast/testkit'
import { type DevFolder, writePrivate } from './dev-folder.ts'

export interface ListedProcess extends ProcessRecord {
  readonly name: string
}

/** The name of the platform's parent process. All other processes end with it. */
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

/** Whether exactly this process is running, and not another one with the same id. */
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
