// Prints what a CI run cost: seconds per step against the CPU budgets of .ci/budgets.json, and the 20 slowest test files.
// Usage: ledger.ts STEPS FILES. Exits with 1 when a step used more than 1.5 times its budget.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv, cpuUsage } from 'node:process'
import { type Budgets, type Judgement, judgeStep, machineFactor, readSteps, type Step } from './budgets.ts'

const ROOT = join(import.meta.dirname, '../..')
const SLOWEST = 20
const ROUNDS = 3

interface TestFile {
  readonly name: string
  readonly startTime: number
  readonly endTime: number
}

const [stepsPath = '', filesPath = ''] = argv.slice(2)
const steps = readSteps(readFileSync(stepsPath, 'utf8'))
const budgets: Budgets = JSON.parse(readFileSync(join(ROOT, '.ci/budgets.json'), 'utf8'))
const calibrationMs = calibrate()
const factor = machineFactor(budgets, calibrationMs)

console.log(`  ${'step'.padEnd(26)} ${'wall'.padStart(7)} ${'CPU'.padStart(7)} ${'budget'.padStart(7)}`)
const judged = steps.map((step) => ({ step, judgement: judgeStep(budgets, factor, step) }))
for (const { step, judgement } of judged) console.log(stepLine(step, judgement))
console.log(
  `  calibration ${calibrationMs.toFixed(0)} ms, budgets times ${factor.toFixed(2)} on this machine`,
)
printSlowest(steps, readCpu(filesPath))
if (judged.some(({ judgement }) => judgement.level === 'failure')) {
  console.log(
    'A step used more than 1.5 times its CPU budget: find out why, or raise it in .ci/budgets.json.',
  )
  process.exitCode = 1
}

function stepLine({ name, wallSeconds, cpuSeconds, verdict }: Step, { level, ratio }: Judgement): string {
  const budget = level === 'unbudgeted' ? '' : `${(ratio * 100).toFixed(0)} %`
  const note = level === 'warning' ? 'over budget' : level === 'failure' ? 'FAR OVER BUDGET' : ''
  const numbers = [`${wallSeconds} s`, `${cpuSeconds} s`, budget].map((text) => text.padStart(7)).join(' ')
  return `  ${name.padEnd(26)} ${numbers}  ${verdict} ${note}`.trimEnd()
}

function printSlowest(all: readonly Step[], cpu: ReadonlyMap<string, number>): void {
  const files = all.flatMap(({ name, report }) => filesOf(report).map((file) => ({ ...file, step: name })))
  const slowest = files.toSorted((a, b) => b.wallSeconds - a.wallSeconds).slice(0, SLOWEST)
  if (slowest.length === 0) return
  console.log(`  the ${slowest.length} slowest of ${files.length} test files (wall, CPU of the worker):`)
  for (const { path, wallSeconds, step } of slowest)
    console.log(`  ${wallSeconds.toFixed(1).padStart(7)} s ${cpuText(cpu.get(path))}  ${path} (${step})`)
}

function cpuText(seconds: number | undefined): string {
  return (seconds === undefined ? '' : `${seconds.toFixed(1)} s`).padStart(8)
}

function filesOf(report: string): { path: string; wallSeconds: number }[] {
  if (report === '' || !existsSync(report)) return []
  const text = readFileSync(report, 'utf8')
  // A run that was aborted leaves an empty report.
  if (text === '') return []
  const { testResults }: { testResults: readonly TestFile[] } = JSON.parse(text)
  return testResults.map(({ name, startTime, endTime }) => ({
    path: relative(ROOT, name),
    wallSeconds: (endTime - startTime) / 1000,
  }))
}

function readCpu(path: string): Map<string, number> {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  const pairs = lines.filter((line) => line !== '').map((line) => line.split('\t'))
  return new Map(pairs.map(([file = '', seconds]) => [relative(ROOT, file), Number(seconds)]))
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
