// The ledgers of the last CI runs, one file each in .ci/ledgers: what a run cost, what it left out and what failed at first.
// A run writes its own ledger; the next change commits it. docs/design/ci.md#what-ci-remembers

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Rotation } from '@holdfast/testkit/rotation'

const FOLDER = '.ci/ledgers'
/** How many ledgers are kept. */
const MOST = 10

export interface Ledger {
  readonly run: number
  readonly commit: string
  /** Day of the run, such as 2026-11-19. */
  readonly date: string
  readonly seconds: number
  /** CPU seconds of the whole machine during the run, engines and containers included. */
  readonly machineCpuSeconds: number
  readonly calibrationMs: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** For each rotation, the number of the run in which each slice was run last; 0 for a slice that never ran. */
  readonly slices: { readonly [rotation in Rotation]?: readonly number[] }
  readonly steps: readonly LedgerStep[]
  readonly slowest: readonly SlowFile[]
  readonly firstFailures: readonly FirstFailure[]
}

export interface LedgerStep {
  readonly name: string
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly tests: number
  readonly verdict: string
}

export interface SlowFile {
  readonly file: string
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

/** A test that failed when its file ran for the first time in a CI run. */
export interface FirstFailure {
  readonly file: string
  readonly test: string
  readonly line: string
}

const nameOf = (run: number): string => `${String(run).padStart(4, '0')}.json`

/** The kept ledgers, the newest last. */
export function readLedgers(root: string): Ledger[] {
  const folder = join(root, FOLDER)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

/** Writes the ledger of a run, and removes those that are no longer kept. Returns the path of the file in the repository. */
export function writeLedger(root: string, ledger: Ledger): string {
  const folder = join(root, FOLDER)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, nameOf(ledger.run)), printLedger(ledger))
  const kept = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
  for (const name of kept.slice(0, -MOST)) rmSync(join(folder, name))
  return `${FOLDER}/${nameOf(ledger.run)}`
}

/** Prints JSON with one line for each element of a list, so that two ledgers can be compared line by line. */
export function printLedger(ledger: Ledger): string {
  const members = Object.entries(ledger).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${printValue(value)}`,
  )
  return `{\n${members.join(',\n')}\n}\n`
}

function printValue(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value)
  return `[\n${value.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
}
