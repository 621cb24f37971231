// The end of a CI run: judges the CPU seconds of each step against .ci/budgets.json and the failures of first tries against
// .ci/flakes.tsv, prints both with the twenty slowest test files, and writes what the next runs must know into the tree, and
// between markers into the log (scripts/ci/keep.ts takes it from there). Usage: ledger.ts ENV STEPS FILES, where ENV is a JSON
// object of what the shell knows. The exit code is the number of judgements that fail the run.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv, cpuUsage } from 'node:process'
import { sliceOf } from '@holdfast/testkit/rotation'
import {
  type Budgets,
  excessOf,
  type Judgement,
  judgeStep,
  machineFactor,
  readSteps,
  type Step,
} from './budgets.ts'
import { afterRun, lastRuns } from './choose-slices.ts'
import { afterExecution, FLAKES, printFlakes, readFlakes, unstableFiles } from './flakes.ts'
import { type Ledger, readLedgers, type SlowFile, writeLedger } from './kept-ledgers.ts'
import { printMarked } from './marked.ts'
import { countTests } from './reports.ts'
import { filesOf, firstFailuresOf, isFirstTry, readReport } from './reports-of-steps.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Written by simulation.ts. */
const SIMULATION = '.ci/simulation.json'
const SLOWEST = 20
const ROUNDS = 3

/** The facts that the shell passes on. */
interface Run {
  /** Number of this run; 0 for a run of a part of the tests, which leaves no ledger. */
  readonly run: number
  readonly seconds: number
  readonly machineCpuSeconds: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const [runText = '', stepsPath = '', filesPath = ''] = argv.slice(2)
const run: Run = JSON.parse(runText)
const steps = readSteps(readFileSync(stepsPath, 'utf8'))
const budgets: Budgets = JSON.parse(readFileSync(join(ROOT, '.ci/budgets.json'), 'utf8'))
const calibrationMs = calibrate()
const factor = machineFactor(budgets, calibrationMs)
const slowest = slowestFiles()
const firstTries = steps.filter(isFirstTry)
const failures = firstTries.flatMap(firstFailuresOf)
const problems = [...judgeBudgets(), ...judgeFlakes()]
for (const problem of problems) console.log(problem)
if (run.run > 0) keep()
process.exitCode = problems.length

function judgeBudgets(): string[] {
  console.log(`  ${'step'.padEnd(26)} ${'wall'.padStart(7)} ${'CPU'.padStart(7)} ${'budget'.padStart(7)}`)
  const judged = steps.map((step) => ({ step, judgement: judgeStep(budgets, factor, step) }))
  for (const { step, judgement } of judged) console.log(stepLine(step, judgement))
  const total = steps.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  console.log(`  ${'all steps'.padEnd(26)} ${`${run.seconds} s`.padStart(7)} ${`${total} s`.padStart(7)}`)
  console.log(`  the whole machine used ${run.machineCpuSeconds} s of CPU, with engines and containers`)
  console.log(
    `  calibration ${calibrationMs.toFixed(0)} ms, budgets times ${factor.toFixed(2)} on this machine`,
  )
  console.log(`  the ${slowest.length} slowest test files (wall, CPU of the worker):`)
  for (const { file, wallSeconds, cpuSeconds } of slowest)
    console.log(`  ${`${wallSeconds} s`.padStart(9)} ${`${cpuSeconds} s`.padStart(8)}  ${file}`)
  const excess = excessOf(budgets)
  return [
    ...(judged.some(({ judgement }) => judgement.level === 'failure')
      ? [
          'A step has no CPU budget in .ci/budgets.json, or used more than 1.5 times its budget: find out why, or take the difference from another step.',
        ]
      : []),
    ...(excess > 0
      ? [
          `The budgets exceed their sum by ${excess} s of CPU: lower another row, or name the capability in \`raises\`.`,
        ]
      : []),
  ]
}

function stepLine({ name, wallSeconds, cpuSeconds, verdict }: Step, { level, ratio }: Judgement): string {
  const budget = Number.isFinite(ratio) ? `${(ratio * 100).toFixed(0)} %` : 'none'
  const note = level === 'warning' ? 'over budget' : level === 'failure' ? 'FAR OVER BUDGET' : ''
  const numbers = [`${wallSeconds} s`, `${cpuSeconds} s`, budget].map((text) => text.padStart(7)).join(' ')
  return `  ${name.padEnd(26)} ${numbers}  ${verdict} ${note}`.trimEnd()
}

function slowestFiles(): SlowFile[] {
  const cpu = readCpu(filesPath)
  return steps
    .flatMap(filesOf)
    .toSorted((a, b) => b.wallSeconds - a.wallSeconds)
    .slice(0, SLOWEST)
    .map(({ file, wallSeconds }) => ({
      file,
      wallSeconds: tenths(wallSeconds),
      cpuSeconds: tenths(cpu.get(file) ?? 0),
    }))
}

function readCpu(path: string): Map<string, number> {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  const pairs = lines.filter((line) => line !== '').map((line) => line.split('\t'))
  return new Map(pairs.map(([file = '', seconds]) => [relative(ROOT, file), Number(seconds)]))
}

/** Adds the failures of first tries to the kept ones, and names the files that failed too often. */
function judgeFlakes(): string[] {
  const files = new Set(firstTries.flatMap((step) => [step.script, ...filesOf(step).map(({ file }) => file)]))
  const path = join(ROOT, FLAKES)
  const before = existsSync(path) ? readFlakes(readFileSync(path, 'utf8')) : []
  const rows = afterExecution(before, { run: run.run, files, failures }, (file) =>
    existsSync(join(ROOT, file)),
  )
  if (run.run > 0) writeFileSync(path, printFlakes(rows))
  for (const { file, test, line } of failures)
    console.log(`  failed at the first try: ${file}: ${test}: ${line}`)
  return unstableFiles(rows).map(
    (file) =>
      `${file} failed at the first try in two of its last ten executions: mend or move it, and delete its rows in ${FLAKES}.`,
  )
}

function keep(): void {
  const newest = readLedgers(ROOT).at(-1)
  const ledger: Ledger = {
    run: run.run,
    commit: spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).stdout.trim(),
    date: new Date().toISOString().slice(0, 10),
    seconds: run.seconds,
    machineCpuSeconds: run.machineCpuSeconds,
    calibrationMs: Math.round(calibrationMs),
    passed: run.passed,
    failed: run.failed + problems.length,
    skipped: run.skipped,
    slices: afterRun(lastRuns(newest), sliceOf, run.run),
    steps: steps.map((step) => ({
      name: step.name,
      wallSeconds: step.wallSeconds,
      cpuSeconds: step.cpuSeconds,
      tests: countTests(readReport(step.report)).passed,
      verdict: step.verdict,
    })),
    slowest,
    firstFailures: failures,
  }
  for (const path of [writeLedger(ROOT, ledger), FLAKES, SIMULATION])
    if (existsSync(join(ROOT, path))) console.log(printMarked(path, readFileSync(join(ROOT, path), 'utf8')))
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10
}

/** Measures the speed of this machine: CPU milliseconds of a fixed piece of work, the best of three runs. */
function calibrate(): number {
  const block = Buffer.alloc(1 << 20, 7)
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = cpuUsage()
    for (let index = 0; index < 200; index += 1) createHash('sha256').update(block).digest()
    let sum = 0
    for (let index = 0; index < 30_000_000; index += 1) sum = (sum * 31 + index) | 0
    const { user, system } = cpuUsage(before)
    return (user + system + (sum & 0)) / 1000
  })
  return Math.min(...rounds)
}
