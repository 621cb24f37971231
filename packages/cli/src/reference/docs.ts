// Renders the reference pages under docs/cli from the command table: one page per command, and an index.

import { GLOBAL_OPTIONS } from '../args/global-options.ts'
import type { Command, OptionSpec } from '../command.ts'
import { COMMANDS } from '../commands/index.ts'
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts'
import { descriptionOf } from '../program.ts'

const NOTE = '<!-- Generated from packages/cli by scripts/build-cli.ts; do not edit. -->'

/** Returns the text of each reference page by file name. */
export function renderPages(): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', indexPage()],
    ...COMMANDS.map((command): [string, string] => [fileOf(command), commandPage(command)]),
  ])
}

const fileOf = ({ name }: Command): string => `${name.replaceAll(' ', '-')}.md`

function indexPage(): string {
  const meanings = Object.entries(EXIT).map(([name, code]) => `| ${code} | ${meaningOf(name)} |`)
  return [
    NOTE,
    '',
    '# holdfast',
    '',
    'Results go to stdout, progress and errors to stderr. `holdfast --version` prints the version.',
    '',
    '## Commands',
    '',
    ...COMMANDS.map((command) => `- [\`${command.name}\`](${fileOf(command)}): ${command.summary}`),
    '',
    '## Options of every command',
    '',
    ...optionRows(GLOBAL_OPTIONS),
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...meanings,
    '',
  ].join('\n')
}

const meaningOf = (name: string): string =>
  Object.entries(EXIT_MEANINGS).find(([each]) => each === name)?.[1] ?? ''

function commandPage(command: Command): string {
  const { name, args = [], options = [], examples } = command
  const usage = args.map((each) => {
    const inside = each.many === true ? `${each.name}...` : each.name
    return each.optional === true ? `[${inside}]` : `<${inside}>`
  })
  return [
    NOTE,
    '',
    `# holdfast ${name}`,
    '',
    descriptionOf(command),
    '',
    '```text',
    ['holdfast', name, ...usage, ...(options.length > 0 ? ['[options]'] : [])].join(' '),
    '```',
    '',
    ...(args.length === 0 ? [] : ['## Arguments', '', ...args.map(argumentRow), '']),
    ...(options.length === 0 ? [] : ['## Options', '', ...optionRows(options), '']),
    '## Examples',
    '',
    ...examples.flatMap(([typed, does]) => [does, '', '```sh', typed, '```', '']),
  ].join('\n')
}

const argumentRow = ({ name, summary, choices }: NonNullable<Command['args']>[number]): string =>
  `- \`${name}\`: ${summary}${choicesText(choices)}`

const optionRows = (options: readonly OptionSpec[]): string[] =>
  options.map(({ flags, summary, choices }) => `- \`${flags}\`: ${summary}${choicesText(choices)}`)

const choicesText = (choices: readonly string[] | undefined): string =>
  choices === undefined ? '' : ` (one of ${choices.join(', ')})`
