// Runs every command of the README's first section, and of some guides, in a fresh clone of HEAD and compares the output with
// these documents. The first page must be served after at most three commands and five minutes.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { watchLeftovers } from './first-minutes/leftovers.ts'
import { matchesShown } from './first-minutes/matches-shown.ts'
import { readCommands, readWalk, type WalkCommand } from './first-minutes/read-walk.ts'
import { type Ran, runLine, type Shell } from './first-minutes/run-line.ts'

const ROOT = join(import.meta.dirname, '..')
const HEADING = 'A running system in minutes'
const LAST_COMMAND = 'npm run dev:down'
/** Guides whose every command works on the platform of the README, one after another. */
const GUIDES = [
  'run-a-job',
  'private-networks',
  'back-up-and-restore-a-deployment',
  'scale-and-release-carefully',
  'try-a-change-in-a-canary',
]
/** The guides run `holdfast` as users install it: the bundle. It also starts ten times faster than npx with the sources. */
const BUILD_CLI = { text: 'node_modules/.bin/node scripts/build-cli.ts ../cli', shown: [] }
const INSTALLED = 'holdfast() { node_modules/.bin/node ../cli/holdfast.mjs "$@"; }\n'
const MOST_COMMANDS = 3
const MOST_SECONDS = 300
/** Longest time for which a read-only command is repeated until its output matches. */
const RETRY_MS = 180_000
/** Time between two repetitions. The walk runs beside other tests, so it must not keep a core busy while it waits. */
const RETRY_PAUSE_MS = 1_000
const REAPED_MS = 10_000
const READ_ONLY =
  /^(curl -s -H "Host|(npx )?holdfast (--context \S+ )?(get|describe|events|why|\w+ (list|describe|show|history)|rollout canary status)\b|holdfast .* --dry-run$)/
const ASSIGNS = /^([A-Z]+)=/

let passed = 0
let failed = 0
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const printTime = (seconds: number, what: string): void =>
  print(`  ${seconds.toFixed(1).padStart(6)} s  ${what}`)

function check(holds: boolean, what: string): boolean {
  if (holds) passed += 1
  else failed += 1
  if (!holds) print(`FAILED: ${what}`)
  return holds
}

/** Stops the platform at exit and on signals, before the clone of the repository is removed. */
function cleanUpAtExit(clone: string, variables: NodeJS.ProcessEnv): void {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.prependOnceListener('exit', () => {
    if (!existsSync(join(clone, '.dev'))) return
    spawnSync(execPath, [join(clone, 'scripts/dev-down.ts')], { env: variables, timeout: 30_000 })
  })
}

/** The environment of a new shell: without the variables of npm and CI, and with a separate file of CLI contexts. */
function freshEnvironment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(npm_|HOLDFAST_(?!ENGINES))/.test(name))
  const path = env['PATH']?.split(':').filter((folder) => !folder.includes('node_modules'))
  return {
    ...Object.fromEntries(kept),
    PATH: path?.join(':'),
    HOLDFAST_CONTEXTS_FILE: join(home, 'contexts.yaml'),
  }
}

/** Runs a command and compares its output. A read-only command is repeated until its output matches. */
async function runAsShown(shell: Shell, before: string, { text, shown }: WalkCommand): Promise<Ran> {
  const startedAt = performance.now()
  for (;;) {
    const ran = await runLine(shell, before + text, MOST_SECONDS * 1000)
    const seconds = (performance.now() - startedAt) / 1000
    const printed = ran.printed.replaceAll(shell.folder, '/tmp/holdfast')
    const done = ran.status === 0 && matchesShown(shown, printed)
    if (done || !READ_ONLY.test(text) || seconds * 1000 > RETRY_MS) return { ...ran, printed, seconds }
    await pause(RETRY_PAUSE_MS)
  }
}

/** Runs an assignment once and returns the line that repeats its result in another shell. */
async function readAssignment(shell: Shell, line: string, variable: string): Promise<string> {
  const { printed, status } = await runLine(shell, `${line}\ndeclare -p ${variable}`, MOST_SECONDS * 1000)
  check(status === 0, `${line}: exit code ${status}\n${printed}`)
  // Warnings of npm may precede the declaration.
  return printed.slice(Math.max(0, printed.lastIndexOf('declare ')))
}

async function walk(shell: Shell, commands: readonly WalkCommand[]): Promise<void> {
  let assignments = INSTALLED
  let total = 0
  let leftovers: (() => string[]) | undefined
  const page = commands.findIndex(({ text }) => text.startsWith('curl'))
  for (const [at, command] of commands.entries()) {
    const { text, shown } = command
    if (text === LAST_COMMAND) {
      leftovers = watchLeftovers(shell.folder)
      check(leftovers().length > 0, 'a running platform has processes and files to check')
    }
    const [, variable] = ASSIGNS.exec(text) ?? []
    if (variable !== undefined) {
      assignments += await readAssignment(shell, assignments + text, variable)
      continue
    }
    const { seconds, status, printed } = await runAsShown(shell, assignments, command)
    printTime(seconds, text.split('\n')[0] ?? '')
    const what = `${text}: exit code ${status}; the document shows\n${shown.join('\n')}\nbut the command printed\n${printed}`
    if (!check(status === 0 && matchesShown(shown, printed), what)) return
    total += seconds
    if (at === page) printFirstPage(page, total)
  }
  // Killed processes exist until they are reaped, so wait before the check for processes that are left.
  await waitUntil(() => leftovers?.().length === 0, {
    what: 'no process is left',
    timeoutMs: REAPED_MS,
  }).catch(() => {})
  check(leftovers?.().length === 0, `left behind: ${leftovers?.().join(', ') ?? 'not checked'}`)
}

function printFirstPage(commands: number, seconds: number): void {
  print(`From the clone to the first page: ${commands} commands, ${seconds.toFixed(1)} s.`)
  check(commands <= MOST_COMMANDS, `at most ${MOST_COMMANDS} commands`)
  check(seconds <= MOST_SECONDS, `at most ${MOST_SECONDS} s`)
}

async function main(): Promise<void> {
  const home = makeTempFolder('first-minutes')
  const shell = { folder: join(home.path, 'clone'), env: freshEnvironment(home.path) }
  cleanUpAtExit(shell.folder, shell.env)
  print('The first section of the README and the guides, in a fresh clone of HEAD:')
  const cloned = spawnSync('git', ['clone', '--quiet', ROOT, shell.folder], { encoding: 'utf8' })
  if (cloned.status !== 0) throw new Error(`git clone: ${cloned.stderr}`)
  const read = (path: string): string => readFileSync(join(shell.folder, path), 'utf8')
  const readme = readWalk(read('README.md'), HEADING)
  const [last, ...others] = readme.toReversed()
  if (last?.text !== LAST_COMMAND) throw new Error(`the section does not end with ${LAST_COMMAND}`)
  const guides = GUIDES.flatMap((name) => readCommands(read(`docs/guides/${name}.md`)))
  await walk(shell, [...others.toReversed(), BUILD_CLI, ...guides, last])
}

try {
  await main()
} catch (error) {
  check(false, error instanceof Error ? error.message : String(error))
}
print(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
