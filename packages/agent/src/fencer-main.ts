#!/usr/bin/env node
// The holdfast-fencer program: ends the writers of volumes when their lease ends, without agent and engine. It imports
// nothing but Node's built-ins and the protocol, so that it starts with little memory.

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { env } from 'node:process'
import { parseArgs } from 'node:util'
import type { Deadlines, FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { killCgroups } from './adapters/kernel/kill-cgroups.ts'
import { notifySystemd } from './adapters/kernel/notify-systemd.ts'
import { createUnmounter } from './adapters/kernel/unmount.ts'
import { latestBootClockMs, readBootId } from './fencer/boot-clock.ts'
import { claimPriority } from './fencer/claim-priority.ts'
import { decodeDeadlines, decodeReport, encodeReport } from './fencer/fencer-files.ts'
import { createFencer, type FencerMachine } from './fencer/watch-groups.ts'

const USAGE = `holdfast-fencer: ends the writers of volumes when their lease ends

  holdfast-fencer --deadlines FILE --report FILE   run until SIGTERM; both files belong in a folder in memory
         [--reboot]                                reboot the machine if writers cannot be killed
`
const SYSRQ = '/proc/sysrq-trigger'
const RETRY_MS = 25

const log: FencerMachine['log'] = (fields, msg) =>
  void process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields, msg })}\n`)

/** Logs a failure once, until a success: a message per step would fill the pipe to a log that no process reads. */
function onceUntilSuccess(message: string) {
  let failing = false
  return <T>(step: () => T): T | undefined => {
    try {
      const result = step()
      failing = false
      return result
    } catch (error) {
      if (!failing) log({ error: String(error) }, message)
      failing = true
      return undefined
    }
  }
}

/** Reads the file only if it was replaced. It may be absent until the agent registers the first group. */
function createReader(path: string): () => Deadlines | undefined {
  const attempt = onceUntilSuccess('deadlines are unreadable, known groups keep theirs')
  let seen = ''
  return () =>
    attempt(() => {
      const { ino, mtimeNs, size } = statSync(path, { bigint: true })
      const version = `${ino} ${mtimeNs} ${size}`
      if (version === seen) return undefined
      const deadlines = decodeDeadlines(readFileSync(path, 'utf8'))
      seen = version
      return deadlines
    })
}

function createReporter(path: string): (report: FencerReport) => void {
  const attempt = onceUntilSuccess('report could not be written')
  return (report) =>
    attempt(() => {
      writeFileSync(`${path}.new`, encodeReport(report), { mode: 0o600 })
      renameSync(`${path}.new`, path)
    })
}

/** The report of an earlier run: its groups are still to be fenced if the deadlines have become unreadable. */
function readReport(path: string): FencerReport | undefined {
  try {
    return decodeReport(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

interface Line {
  readonly deadlines: string
  readonly report: string
  readonly reboot: boolean
}

function readLine(): Line {
  const text = { type: 'string' } as const
  const options = {
    deadlines: text,
    report: text,
    reboot: { type: 'boolean' },
    help: { type: 'boolean' },
  } as const
  const { deadlines, report, reboot = false, help } = parseArgs({ options }).values
  if (help) process.stdout.write(USAGE)
  if (help) process.exit(0)
  if (deadlines === undefined || report === undefined) throw new Error('--deadlines and --report are needed.')
  return { deadlines, report, reboot }
}

function run({ deadlines, report, reboot }: Line): void {
  const machine: FencerMachine = {
    boot: readBootId(),
    nowMs: latestBootClockMs,
    date: () => new Date().toISOString(),
    readDeadlines: createReader(deadlines),
    kill: killCgroups,
    unmount: createUnmounter(log),
    report: createReporter(report),
    reboot: reboot ? () => writeFileSync(SYSRQ, 'b') : undefined,
    log,
  }
  const step = createFencer(machine, readReport(report))
  const attempt = onceUntilSuccess('step failed, retrying')
  // A step that fails writes no report, so the agent notices.
  const next = (): void => void setTimeout(next, attempt(step) ?? RETRY_MS)
  next()
  log({ ...claimPriority(), boot: machine.boot }, 'fencer started')
  const onFailure = (why: string): void =>
    log({ why }, 'state of the service could not be reported to systemd')
  void notifySystemd('ready', { env, onFailure })
}

try {
  run(readLine())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error} See: holdfast-fencer --help\n`)
  process.exitCode = 2
}
