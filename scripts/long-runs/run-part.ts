// Runs a part of the long run: its unfinished steps one after another, even if some fail, and writes its row at the end.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentOf, type Part } from './parts.ts'
import { type DoneStep, endProgress, keepProgress, type Progress, readProgress } from './progress.ts'
import { keepRow } from './rows.ts'
import { ROOT, type Step, stepsOf } from './steps.ts'

const git = (...words: string[]): string =>
  spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
const currentCommit = (): string => git('rev-parse', 'HEAD')
/** The rows of long runs are not part of what they test. */
const isTreeChanged = (): boolean => git('status', '--porcelain', '--', '.', ':!docs/long-runs.*') !== ''

/** Continues the part, or starts it from its first step if it never ran or ran at another commit. Returns whether all its steps passed. */
export function runPart(part: Part): boolean {
  const commit = currentCommit()
  const before = readProgress(part.name)
  const isSame = before?.commit === commit && !before.isChanged && !isTreeChanged()
  let progress: Progress = {
    commit,
    isChanged: isTreeChanged(),
    pid: process.pid,
    done: isSame ? before.done : [],
  }
  keepProgress(part.name, progress)
  const steps = stepsOf(part)
  console.log(
    `=== ${part.name} at ${commit.slice(0, 8)}: ${progress.done.length} of ${steps.length} steps are done`,
  )
  for (const step of steps) {
    if (progress.done.some(({ name }) => name === step.name)) continue
    const done = runStep(step, environmentOf(part, commit))
    progress = { ...progress, done: [...progress.done, done] }
    keepProgress(part.name, progress)
  }
  const isChanged = progress.isChanged || isTreeChanged() || currentCommit() !== commit
  const failed = progress.done.filter(({ isOk }) => !isOk)
  keepRow(ROOT, rowOf(part, { ...progress, isChanged }))
  endProgress(part.name)
  for (const { name } of failed) console.log(`FAILED ${name}`)
  return failed.length === 0
}

/** Runs a step and counts its tests. CPU time is that of all processes that the step waited for. */
function runStep({ name, command, file }: Step, environment: { readonly [name: string]: string }): DoneStep {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-long-'))
  const [times, output, report] = ['times', 'output', 'report.json'].map((each) => join(folder, each))
  const words = file === undefined ? command : [...command, '--reporter=json', `--outputFile.json=${report}`]
  console.log(`\n=== ${name}: ${words.join(' ')}`)
  const started = Date.now()
  const script = `{ "$@" 2>&1; } | tee "$OUTPUT"; status=\${PIPESTATUS[0]}; times >"$TIMES"; exit "$status"`
  const env = {
    ...process.env,
    ...environment,
    PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
    ...{ OUTPUT: output, TIMES: times },
  }
  const { status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    cwd: ROOT,
    env,
    stdio: [openSync('/dev/null', 'r'), 'inherit', 'inherit'],
  })
  const seconds = Math.round((Date.now() - started) / 1000)
  const last = lastLine(read(output))
  const { passed, failed } = file === undefined ? countsOf(last) : countReport(read(report))
  // A file of which no test ran shows nothing.
  const isOk = status === 0 && failed === 0 && (file === undefined || passed > 0)
  const cpuSeconds = cpuOf(read(times))
  rmSync(folder, { recursive: true, force: true })
  console.log(`=== ${name}: ${isOk ? 'ok' : `FAILED (${status})`} after ${seconds} s, ${cpuSeconds} s of CPU`)
  return { name, isOk, seconds, cpuSeconds, passed, failed, last: file === undefined ? last : '' }
}

function read(path: string | undefined): string {
  try {
    return readFileSync(path ?? '', 'utf8')
  } catch {
    // A step that was killed leaves no report.
    return ''
  }
}

const lastLine = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .at(-1)
    ?.trim() ?? ''

function countsOf(line: string): { passed: number; failed: number } {
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? []
  return { passed: Number(passed), failed: Number(failed) }
}

function countReport(json: string): { passed: number; failed: number } {
  const { numPassedTests = 0, numFailedTests = 0 } = json === '' ? {} : Object(JSON.parse(json))
  return { passed: Number(numPassedTests), failed: Number(numFailedTests) }
}

/** The second line of `times`: user and system time of the children. */
function cpuOf(text: string): number {
  const found = [...(text.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  return Math.round(
    found.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0),
  )
}

function rowOf(part: Part, { commit, isChanged, done }: Progress) {
  const sum = (of: (step: DoneStep) => number): number => done.reduce((total, step) => total + of(step), 0)
  const bad = done.filter(({ isOk }) => !isOk).map(({ name }) => name)
  const passed = sum((step) => step.passed)
  const printed = done.filter(({ name, last }) => name.startsWith('bench ') && last !== '')
  const figures = [
    ...(passed > 0 ? [`${passed} tests passed`] : []),
    ...printed.map(({ name, last }) => `${name.slice('bench '.length)}: ${last}`),
    ...(passed === 0 && printed.length === 0 ? [`${done.length} steps`] : []),
  ]
  return {
    part: part.name,
    commit: `${commit.slice(0, 8)}${isChanged ? '+' : ''}`,
    date: new Date().toISOString().slice(0, 10),
    minutes: Math.ceil(sum(({ seconds }) => seconds) / 60),
    cpuMinutes: Math.ceil(sum(({ cpuSeconds }) => cpuSeconds) / 60),
    passed,
    failed: sum((step) => step.failed),
    figures: figures.join('; '),
    verdict: bad.length === 0 ? 'passed' : `failed: ${bad.join(', ')}`,
  }
}
