// Checks every command of the CLI: completion offers it, its examples are valid command lines of exactly this command, a
// test runs it as a process against a real platform, and a command that lists prints JSON for scripts. That each command
// has a page is checked beside the generator of the pages (packages/cli/src/reference/docs.test.ts).

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GLOBAL_OPTIONS } from '@holdfast/cli/args/global-options'
import { longFlags, protectVerbatim } from '@holdfast/cli/args/option-words'
import type { Command } from '@holdfast/cli/command'
import { COMMANDS, GROUPS } from '@holdfast/cli/commands/index'
import { candidatesFor } from '@holdfast/cli/completion/candidates'
import { buildProgram } from '@holdfast/cli/program'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
/** Tests that start the CLI as a process. */
const PROCESS_TESTS = ['tests/real', 'e2e', 'scripts/first-minutes']

const complete = (...typed: string[]): readonly string[] =>
  candidatesFor(COMMANDS, GLOBAL_OPTIONS, typed).words

const eachCommand = describe.each(COMMANDS.map((command) => [command.name, command] as const))

eachCommand('holdfast %s', (name, command) => {
  const words = name.split(' ')

  test('is offered by completion, word by word, with its options', () => {
    for (const [at, word] of words.entries()) expect(complete(...words.slice(0, at), '')).toContain(word)
    const options = (command.options ?? []).flatMap(longFlags)
    expect(complete(...words, '--')).toEqual(expect.arrayContaining(options))
  })

  test('has examples that are command lines of this command', async () => {
    for (const [typed] of command.examples) expect(await parsed(typed), typed).toBe(name)
  })

  test('is run as a process by a test', () => {
    expect(isRun(command), `no test in ${PROCESS_TESTS.join(', ')} runs holdfast ${name}`).toBe(true)
  })

  test.runIf(command.summary.startsWith('list '))('prints its list as JSON', () => {
    const [output] = (command.options ?? []).filter(({ flags }) => flags.includes('--output'))
    expect(output?.choices).toContain('json')
    expect(output?.flags).toMatch(/^-o,/)
  })
})

/** The name of the command that an example runs, or the parser's complaint. The command itself is not run. */
async function parsed(example: string): Promise<string> {
  let chosen = 'no command'
  const program = buildProgram({
    commands: COMMANDS,
    groups: GROUPS,
    out: () => {},
    err: () => {},
    async onChosen({ name }) {
      chosen = name
    },
  })
  try {
    await program.parseAsync(protectVerbatim(wordsOf(example), COMMANDS, GLOBAL_OPTIONS), { from: 'user' })
  } catch (error) {
    return String(error)
  }
  return chosen
}

/** The words of the CLI in a line of a shell, without pipes and redirections. */
function wordsOf(example: string): string[] {
  const [, typed = ''] = /\bholdfast (.*?)(?: [<>|] .*|\))?$/.exec(example) ?? []
  return typed.split(' ')
}

const sources = PROCESS_TESTS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
).join('\n')

/** Tests write a command line as a list of words, or as a text. */
function isRun({ name, aliases = [] }: Command): boolean {
  return [name, ...aliases].some((each) => {
    const asList = `'${each.replaceAll(' ', "',\\s*'")}'`
    return new RegExp(`${asList}|holdfast ${each}\\b|cli\\('${each}\\b`).test(sources)
  })
}
