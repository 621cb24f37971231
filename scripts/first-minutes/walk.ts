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
  /^([A-Z_]+=\S+ )*(systemctl is-active |docker (ps|inspect) |holdfast-server (doctor|upgrade plan)|(npx )?holdfast (--context \S+ )?(get|describe|events|why|status|logs|diff|ps|\w+ (list|describe|show|history|consumers|rotation|containers)|rollout canary status|volume divergences(?! d))\b|curl -s|.* \| redis$|redis |holdfast .* --dry-run$|holdfast exec .*"?select )/
/** Tokens of users and of nodes, which a page shows as `hf_...`. */
const TOKEN = /\b(hfj?_)[0-9A-Za-z_]{20,}/g
/** Lines that later commands need: a variable, a function, the mode of new files. */
const ASSIGNS = /^([A-Z]+)=/
const DEFINES = /^(umask \d+|[a-z]+\(\) \{.*\})$/

/** A document on its way: the shell, and the lines that every further command begins with. */
export interface Walker {
  readonly shell: Shell
  readonly name: string
  /** Shells of the machines that prompts name; absent: all commands run in `shell`. */
  readonly machines?: ReadonlyMap<string, Shell>
  before: string
}

export const startWalk = (name: string, shell: Shell, machines?: ReadonlyMap<string, Shell>): Walker => ({
  name,
  shell,
  ...(machines === undefined ? {} : { machines }),
  before: '',
})

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
  for (const group of groupsOf(commands)) if ((await walkGroup(walker, group)) === undefined) return false
  return true
}

/** A command, and those that run alongside. */
export type Group = readonly [WalkCommand, ...WalkCommand[]]

export function groupsOf(commands: readonly WalkCommand[]): Group[] {
  const groups: [WalkCommand, ...WalkCommand[]][] = []
  for (const command of commands) {
    const last = groups.at(-1)
    if (command.alongside === true && last !== undefined) last.push(command)
    else groups.push([command])
  }
  return groups
}

/** Runs a command, and after its first output those that run alongside; returns its seconds, or undefined if one failed. */
export async function walkGroup(walker: Walker, [command, ...others]: Group): Promise<number | undefined> {
  const printed = Promise.withResolvers<void>()
  const ended = walkOne(walker, command, printed.resolve)
  if (others.length > 0) await Promise.race([printed.promise, ended])
  const walked = await walkAll(walker, others.map(alone))
  const seconds = await ended
  return walked ? seconds : undefined
}

const alone = ({ alongside: _, ...command }: WalkCommand): WalkCommand => command

/** Runs one command; returns its seconds, or undefined if it failed. */
export async function walkOne(
  walker: Walker,
  command: WalkCommand,
  onPrinted?: () => void,
): Promise<number | undefined> {
  const { text, shown } = command
  if (DEFINES.test(text)) return define(walker, `${text}\n`)
  const [, variable] = ASSIGNS.exec(text) ?? []
  if (variable !== undefined) return assign(walker, command, variable)
  const { seconds, status, printed } = await runAsShown(walker, command, onPrinted)
  printTime(seconds, `${walker.name}: ${text.split('\n')[0] ?? ''}`)
  const what = `${walker.name}: ${text}: exit code ${status}; the document shows\n${shown.join('\n')}\nbut the command printed\n${printed}`
  return check(status === 0 && matchesShown(shown, printed), what) ? seconds : undefined
}

function shellOf({ shell, machines, name }: Walker, { machine }: WalkCommand): Shell {
  if (machine === undefined || machines === undefined) return shell
  const found = machines.get(machine)
  if (found === undefined)
    throw new Error(`${name} has commands on ${machine}, which this walk does not have`)
  return found
}

function define(walker: Walker, lines: string): number {
  walker.before += lines
  return 0
}

/** Runs an assignment once, and keeps its result for further commands. Its messages are compared like other output. */
async function assign(walker: Walker, command: WalkCommand, variable: string): Promise<number | undefined> {
  const { text, shown } = command
  const mark = '---'
  const line = `${walker.before}${text}\necho; echo ${mark}; declare -p ${variable}`
  const { printed, status, seconds } = await runLine(shellOf(walker, command), line, DEADLINE_MS)
  const [messages = '', declared = ''] = printed.split(`\n${mark}\n`)
  const holds = status === 0 && (shown.length === 0 || matchesShown(shown, messages))
  if (!check(holds, `${walker.name}: ${text}: exit code ${status}\n${printed}`)) return undefined
  return define(walker, declared) + seconds
}

/** Runs a command and compares its output. A read-only command is repeated until its output matches. */
async function runAsShown(walker: Walker, command: WalkCommand, onPrinted?: () => void): Promise<Ran> {
  const { text, shown } = command
  const shell = shellOf(walker, command)
  const startedAt = performance.now()
  for (;;) {
    const ran = await runLine(shell, walker.before + text, DEADLINE_MS, onPrinted)
    const seconds = (performance.now() - startedAt) / 1000
    const printed = withoutOwnNames(ran.printed, shell)
    const done = ran.status === 0 && matchesShown(shown, printed)
    if (done || !READ_ONLY.test(text) || seconds * 1000 > RETRY_MS) return { ...ran, printed, seconds }
    await pause(pauseAfter(seconds * 1000))
  }
}

/** Names the folder of a clone as pages do, and cuts tokens, which must not reach a log. */
function withoutOwnNames(printed: string, { folder, enter }: Shell): string {
  const named = enter === undefined ? printed.replaceAll(folder, '/tmp/holdfast') : printed
  return named.replaceAll(TOKEN, '$1...')
}

const pauseAfter = (waitedMs: number): number =>
  Math.min(RETRY_PAUSE_MS.least + waitedMs / 4, RETRY_PAUSE_MS.most)
