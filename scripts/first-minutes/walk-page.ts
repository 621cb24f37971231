// Walks a guide, or sections of it, in machines that try-guides and try-three-machines have booted: every command of the page is
// run there, and its output is compared with the page.
//
//   node scripts/first-minutes/walk-page.ts GUIDE [--section HEADING]... [--page-within COMMANDS,SECONDS] NAME=PID...
//
// PID is the first process of the machine NAME, and the first machine runs the commands without a name in their prompt. With
// --page-within, the first command curl must be reached after at most so many commands and seconds.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { parseArgs } from 'node:util'
import { readCommands, readFiles, readSection, type WalkCommand } from './read-walk.ts'
import { check, finish, print } from './report.ts'
import { endGroups, runLine, type Shell } from './run-line.ts'
import { groupsOf, startWalk, type Walker, walkGroup } from './walk.ts'

const GUIDES = join(import.meta.dirname, '../../docs/guides')
const WRITE_MS = 30_000
const NAMESPACES = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root', '--wd']
/** As a shell of root in the machine has it. */
const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  DEBIAN_FRONTEND: 'noninteractive',
}

interface Limit {
  readonly commands: number
  readonly seconds: number
}

function readMachine(text: string): readonly [string, Shell] {
  const [name = '', pid = ''] = text.split('=')
  if (!/^\d+$/.test(pid)) throw new Error(`${text}: expected NAME=PID`)
  const enter = ['nsenter', '--target', pid, ...NAMESPACES, '--']
  return [name, { folder: '/root', env: ENVIRONMENT, enter }]
}

async function writeFiles({ shell }: Walker, text: string): Promise<void> {
  for (const { name, content } of readFiles(text)) {
    const { status, printed } = await runLine(shell, `cat > ${name} <<'PAGE'\n${content}PAGE`, WRITE_MS)
    if (status !== 0) throw new Error(`${name} was not written: ${printed}`)
  }
}

async function walk(
  walker: Walker,
  commands: readonly WalkCommand[],
  limit: Limit | undefined,
): Promise<void> {
  const groups = groupsOf(commands)
  const page = groups.findIndex(([{ text }]) => text.startsWith('curl'))
  let total = 0
  for (const [at, group] of groups.entries()) {
    const seconds = await walkGroup(walker, group)
    if (seconds === undefined) return
    total += seconds
    if (at === page && limit !== undefined) checkLimit({ commands: page, seconds: total }, limit)
  }
}

function checkLimit({ commands, seconds }: Limit, limit: Limit): void {
  print(`The page is served after ${commands} commands and ${seconds.toFixed(1)} s.`)
  check(commands <= limit.commands, `at most ${limit.commands} commands`)
  check(seconds <= limit.seconds, `at most ${limit.seconds} s`)
}

function readLimit(text: string | undefined): Limit | undefined {
  const [commands, seconds] = (text ?? '').split(',').map(Number)
  return text === undefined ? undefined : { commands: commands ?? 0, seconds: seconds ?? 0 }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: argv.slice(2),
    allowPositionals: true,
    options: { section: { type: 'string', multiple: true }, 'page-within': { type: 'string' } },
  })
  const [guide = '', ...named] = positionals
  const machines = new Map(named.map(readMachine))
  const [shell] = machines.values()
  if (shell === undefined) throw new Error('no machine is named')
  const document = readFileSync(join(GUIDES, `${guide}.md`), 'utf8')
  const text = values.section?.map((heading) => readSection(document, heading)).join('') ?? document
  const commands = readCommands(text)
  if (commands.length === 0) throw new Error(`${guide} has no commands`)
  const walker = startWalk(guide, shell, machines)
  await writeFiles(walker, text)
  await walk(walker, commands, readLimit(values['page-within']))
}

process.prependOnceListener('exit', endGroups)
await main()
finish()
