// How far a part of the long run is: kept in a file after each step, so that an interrupted part continues with its next step.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface DoneStep {
  readonly name: string
  readonly isOk: boolean
  readonly seconds: number
  readonly cpuSeconds: number
  readonly passed: number
  readonly failed: number
  /** The last line of a command's output; empty for a file of tests. */
  readonly last: string
}

export interface Progress {
  readonly commit: string
  /** Whether the tree had changes that no commit has. */
  readonly isChanged: boolean
  /** The process that runs the part, or ran it last. */
  readonly pid: number
  readonly done: readonly DoneStep[]
}

const FOLDER = process.env['HOLDFAST_LONG_RUNS'] ?? join(homedir(), '.cache/holdfast/long-runs')
const fileOf = (part: string): string => join(FOLDER, `${part}.json`)

/** Path of the output of a part. */
export const logOf = (part: string): string => join(FOLDER, `${part}.log`)

export function readProgress(part: string): Progress | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(part), 'utf8'))
  } catch {
    // A part that was not started has no file.
    return undefined
  }
}

export function keepProgress(part: string, progress: Progress): void {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${fileOf(part)}.new`, JSON.stringify(progress))
  renameSync(`${fileOf(part)}.new`, fileOf(part))
}

export const endProgress = (part: string): void => rmSync(fileOf(part), { force: true })

/** Whether the process of this progress still runs the part. */
export function isRunning(part: string, progress: Progress | undefined): boolean {
  try {
    const words = readFileSync(`/proc/${progress?.pid}/cmdline`, 'utf8').split('\0')
    return words.some((word) => word.endsWith('scripts/long-runs.ts')) && words.includes(part)
  } catch {
    // The process has ended.
    return false
  }
}
