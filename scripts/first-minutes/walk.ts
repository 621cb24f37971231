// Runs the commands of one document in order and compares the output of each with the document.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { matchesShown } from './matches-shown.ts'
import { readCommands, type WalkCommand } from './read-walk.ts'
import { check, printTime } from './report.ts'
import { type Ran, runLine, type Shell } from './run-line.ts'

const DEADLINE_MS = 300_000
/** Longest time for which a read-only command is repeated until its output matches. */
const RETRY_MS = 240_000
/** Shortest and longest time between two repetitions. The walk runs beside other tests, so a long wait has long pauses. */
const RETRY_PAUSE_MS = { least: 1_000, most: 8_000 }
/** Commands that change nothing, after any variables that are set for the command alone. */
const READ_ONLY =
  /^([A-Z_]+=\S+ )*((npx )?holdfast (--context \S+ )?(get|describe|events|why|status|logs|diff|ps|\w+ (list|describe|show|history|consumers|rotation|containers)|rollout canary status|volume divergences(?! d))\b|curl -s|.* \| redis$|redis |holdfast .* --dry-run$|holdfast exec .*"?select )/
/** Lines that later commands need: a variable, a function, the mode of new files. */
const ASSIGNS = /^([A-Z]+)=/
const DEFINES = /^(umask \d+|[a-z]+\(\) \{.*\})$/

/** A document on its way: the shell, and the lines that every further command begins with. */
export interface Walker {
  readonly shell: Shell
  readonly name: string
  before: string
}

export const startWalk = (name: string, shell: Shell): Walker => ({ name, shell, before: '' })

/** Walks guides of the shell's folder one after another, until one fails. */
export async function walkGuides(shell: Shell, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const commands = readCommands(readFileSync(join(shell.folder, `docs/guides/${name}.md`), 'utf8'))
    if (!(await walkAll(startWalk(name, shell), commands))) return false
  }
  return true
}

/** Runs the commands until one fails; returns whether all have the output that the document shows. */
export async function walkAll(walker: Walker, commands: readonly WalkCommand[]): Promise<boolean> {
  for (const command of commands) if ((await walkOne(walker, command)) === undefined) return false
  return true
}

/** Runs one command; returns its seconds, or undefined if it failed. */
export async function walkOne(walker: Walker, command: WalkCommand): Promise<number | undefined> {
  const { text, shown } = command
  if (DEFINES.test(text)) return define(walker, `${text}\n`)
  const [, variable] = ASSIGNS.exec(text) ?? []
  if (variable !== undefined) return assign(walker, command, variable)
  const { seconds, status, printed } = await runAsShown(walker, command)
  printTime(seconds, `${walker.name}: ${text.split('\n')[0] ?? ''}`)
  const what = `${walker.name}: ${text}: exit code ${status}; the document shows\n${shown.join('\n')}\nbut the command printed\n${printed}`
  return check(status === 0 && matchesShown(shown, printed), what) ? seconds : undefined
}

function define(walker: Walker, lines: string): number {
  walker.before += lines
  return 0
}

/** Runs an assignment once, and keeps its result for further commands. Its messages are compared like other output. */
async function assign(
  walker: Walker,
  { text, shown }: WalkCommand,
  variable: string,
): Promise<number | undefined> {
  const mark = '---'
  const line = `${walker.before}${text}\necho; echo ${mark}; declare -p ${variable}`
  const { printed, status, seconds } = await runLine(walker.shell, line, DEADLINE_MS)
  const [messages = '', declared = ''] = printed.split(`\n${mark}\n`)
  const holds = status === 0 && (shown.length === 0 || matchesShown(shown, messages))
  if (!check(holds, `${walker.name}: ${text}: exit code ${status}\n${printed}`)) return undefined
  return define(walker, declared) + seconds
}

/** Runs a command and compares its output. A read-only command is repeated until its output matches. */
async function runAsShown({ shell, before }: Walker, { text, shown }: WalkCommand): Promise<Ran> {
  const startedAt = performance.now()
  for (;;) {
    const ran = await runLine(shell, before + text, DEADLINE_MS)
    const seconds = (performance.now() - startedAt) / 1000
    const printed = ran.printed.replaceAll(shell.folder, '/tmp/holdfast')
    const done = ran.status === 0 && matchesShown(shown, printed)
    if (done || !READ_ONLY.test(text) || seconds * 1000 > RETRY_MS) return { ...ran, printed, seconds }
    await pause(pauseAfter(seconds * 1000))
  }
}

const pauseAfter = (waitedMs: number): number =>
  Math.min(RETRY_PAUSE_MS.least + waitedMs / 4, RETRY_PAUSE_MS.most)
