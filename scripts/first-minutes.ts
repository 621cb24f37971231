// Runs every command of the README's first section, and of the guides that need no installed system, in a fresh clone of HEAD and
// compares the output with these documents. The first page must be served after at most three commands and five minutes.
//
//   node scripts/first-minutes.ts                 the README and the guides, in CI one of those that need it alone
//   node scripts/first-minutes.ts GUIDE...        these guides alone, on the platform of dev:up that runs in this clone

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, execPath } from 'node:process'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { sliceOf } from '@holdfast/testkit/rotation'
import { withPackages } from './ci/packaging.ts'
import { buildCli, freshShell } from './first-minutes/fresh-shell.ts'
import { ALONE, LANES } from './first-minutes/guides.ts'
import { watchLeftovers } from './first-minutes/leftovers.ts'
import { readWalk, type WalkCommand } from './first-minutes/read-walk.ts'
import { check, finish, print } from './first-minutes/report.ts'
import { endGroups, type Shell } from './first-minutes/run-line.ts'
import { startWalk, type Walker, walkAll, walkGuides, walkOne } from './first-minutes/walk.ts'

const ROOT = join(import.meta.dirname, '..')
const HEADING = 'A running system in minutes'
const LAST_COMMAND = 'npm run dev:down'
const MOST_COMMANDS = 3
const MOST_SECONDS = 300
const REAPED_MS = 10_000

/** Stops what runs at exit and on signals, before the clone of the repository is removed. */
function cleanUpAtExit(shell: Shell): void {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.prependOnceListener('exit', () => {
    endGroups()
    if (!existsSync(join(shell.folder, '.dev'))) return
    spawnSync(execPath, [join(shell.folder, 'scripts/dev-down.ts')], { env: shell.env, timeout: 30_000 })
  })
}

/** Walks the section up to its last command. Returns whether all commands succeeded. */
async function walkReadme(walker: Walker, commands: readonly WalkCommand[]): Promise<boolean> {
  const page = commands.findIndex(({ text }) => text.startsWith('curl'))
  let total = 0
  for (const [at, command] of commands.entries()) {
    const seconds = await walkOne(walker, command)
    if (seconds === undefined) return false
    total += seconds
    if (at === page) printFirstPage(page, total)
  }
  return true
}

function printFirstPage(commands: number, seconds: number): void {
  print(`From the clone to the first page: ${commands} commands, ${seconds.toFixed(1)} s.`)
  check(commands <= MOST_COMMANDS, `at most ${MOST_COMMANDS} commands`)
  check(seconds <= MOST_SECONDS, `at most ${MOST_SECONDS} s`)
}

/** A guide that fails leaves its deployments behind, so the guides that need the platform alone are then not walked. */
async function walkAllGuides(shell: Shell): Promise<void> {
  const lanes = await Promise.all(LANES.map((lane) => walkGuides(shell, lane)))
  if (lanes.every(Boolean)) await walkGuides(shell, guidesAlone())
}

/** The long run walks all of them. CI has time for one, another one in each run. */
function guidesAlone(): readonly string[] {
  const chosen = withPackages(ALONE, sliceOf('packaging'))
  if (chosen.length < ALONE.length)
    print(
      `Short form, with ${chosen.join()} of ${ALONE.length} guides that need the platform alone; npm run long walks all.`,
    )
  return chosen
}

/** Stops the platform as the README says; nothing of it may be left. */
async function walkDown(walker: Walker, command: WalkCommand): Promise<void> {
  const leftovers = watchLeftovers(walker.shell.folder)
  check(leftovers().length > 0, 'a running platform has processes and files to check')
  await walkOne(walker, command)
  // Killed processes exist until they are reaped, so wait before the check for processes that are left.
  await waitUntil(() => leftovers().length === 0, { what: 'no process is left', timeoutMs: REAPED_MS }).catch(
    () => {},
  )
  check(leftovers().length === 0, `left behind: ${leftovers().join(', ')}`)
}

async function walkClone(home: string): Promise<void> {
  const shell = freshShell(join(home, 'clone'), home)
  cleanUpAtExit(shell)
  print('The first section of the README and the guides, in a fresh clone of HEAD:')
  const cloned = spawnSync('git', ['clone', '--quiet', ROOT, shell.folder], { encoding: 'utf8' })
  if (cloned.status !== 0) throw new Error(`git clone: ${cloned.stderr}`)
  const commands = readWalk(readFileSync(join(shell.folder, 'README.md'), 'utf8'), HEADING)
  const last = commands.at(-1)
  if (last?.text !== LAST_COMMAND) throw new Error(`the section does not end with ${LAST_COMMAND}`)
  const readme = startWalk('README', shell)
  if (!(await walkReadme(readme, commands.slice(0, -1)))) return
  if (await walkAll(readme, [{ text: buildCli(home), shown: [] }])) await walkAllGuides(shell)
  await walkDown(readme, last)
}

async function main(guides: readonly string[]): Promise<void> {
  const home = makeTempFolder('first-minutes')
  if (guides.length === 0) return walkClone(home.path)
  const { cli } = JSON.parse(readFileSync(join(ROOT, '.dev/env.json'), 'utf8'))
  const shell = freshShell(ROOT, home.path, String(cli.file))
  process.prependOnceListener('exit', endGroups)
  if (await walkAll(startWalk('guides', shell), [{ text: buildCli(home.path), shown: [] }]))
    await walkGuides(shell, guides)
}

try {
  await main(argv.slice(2))
} catch (error) {
  check(false, error instanceof Error ? error.message : String(error))
}
finish()
