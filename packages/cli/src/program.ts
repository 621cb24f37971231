// Turns the command table into a commander program. Only this file uses commander: for parsing and help.

import {
  Argument,
  type Command as CommanderCommand,
  createCommand,
  InvalidArgumentError,
  Option,
} from 'commander'
import about from '../package.json' with { type: 'json' }
import { GLOBAL_OPTIONS } from './args/global-options.ts'
import type { ArgumentSpec, Command, OptionSpec } from './command.ts'

export interface ParsedArguments {
  readonly args: readonly string[]
  readonly options: { readonly [name: string]: unknown }
}

export interface ProgramParts {
  readonly commands: readonly Command[]
  /** The description of each command group; the key is the words before the last of its commands, such as `rollout`. */
  readonly groups: { readonly [word: string]: string }
  out(text: string): void
  err(text: string): void
  onChosen(command: Command, typed: ParsedArguments): Promise<void>
}

export function buildProgram({ commands, groups, out, err, onChosen }: ProgramParts): CommanderCommand {
  const program = createCommand('holdfast')
    .description('Run containers on the nodes of your tenant.')
    .configureOutput({ writeOut: out, writeErr: err })
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: true,
      // The list of commands has names only, so that it fits a narrow terminal; the help of each has its arguments.
      subcommandTerm: (command) => command.name(),
      minWidthToWrap: 20,
    })
    .helpCommand('help [command]', 'show the help of a command')
    .version(about.version, '--version', 'print the version')
    .exitOverride()
  for (const spec of GLOBAL_OPTIONS) program.addOption(optionOf(spec))
  const parents = new Map<string, CommanderCommand>()
  /** Commands of which longer ones begin with the same words: `volume recommendations` and its `apply`. */
  const added = new Map<string, CommanderCommand>()
  for (const command of commands)
    for (const name of [command.name, ...(command.aliases ?? [])]) {
      const words = name.split(' ')
      const before = words.slice(0, -1)
      const parent = added.get(before.join(' ')) ?? groupOf(program, parents, before, groups)
      const one = parent.command(words.at(-1) ?? '', { hidden: name !== command.name })
      defineCommand(one, command, onChosen)
      added.set(name, one)
    }
  // Suggestions for options stay those of commander; the ones for commands come from args/suggest.ts.
  for (const parent of [program, ...parents.values()]) parent.showSuggestionAfterError(false)
  return program
}

/** The commander group of some words, such as `volume replica`, which is inside the group `volume`. */
function groupOf(
  program: CommanderCommand,
  parents: Map<string, CommanderCommand>,
  words: readonly string[],
  groups: ProgramParts['groups'],
): CommanderCommand {
  if (words.length === 0) return program
  const name = words.join(' ')
  const known = parents.get(name)
  if (known !== undefined) return known
  const parent = groupOf(program, parents, words.slice(0, -1), groups)
  const group = parent.command(words.at(-1) ?? '').description(groups[name] ?? '')
  parents.set(name, group)
  return group
}

function defineCommand(added: CommanderCommand, command: Command, onChosen: ProgramParts['onChosen']): void {
  added.summary(command.summary).description(descriptionOf(command))
  for (const spec of command.args ?? []) added.addArgument(argumentOf(spec))
  for (const spec of command.options ?? []) added.addOption(optionOf(spec))
  added.addHelpText('after', () => `\n${exampleLines(command).join('\n')}`)
  added.action(async () => {
    const args = added.processedArgs.flat().filter((each) => typeof each === 'string')
    await onChosen(command, { args, options: added.optsWithGlobals() })
  })
}

export function descriptionOf({ summary, details, aliases = [] }: Command): string {
  const sentence = `${summary[0]?.toUpperCase()}${summary.slice(1)}.`
  const also = aliases.map((alias) => `\`holdfast ${alias}\` is the same.`)
  return [sentence, ...(details === undefined ? [] : [details]), ...also].join('\n\n')
}

function exampleLines({ examples }: Command): string[] {
  return ['Examples:', ...examples.flatMap(([typed, does]) => [`  ${typed}`, `      ${does}`])]
}

function argumentOf({ name, summary, optional, many, choices, open }: ArgumentSpec): Argument {
  const inside = many === true ? `${name}...` : name
  const argument = new Argument(optional === true ? `[${inside}]` : `<${inside}>`, summary)
  return choices === undefined || open === true ? argument : argument.choices(choices)
}

function optionOf({ flags, summary, many, choices, form }: OptionSpec): Option {
  const option = new Option(flags, summary)
  if (choices !== undefined) option.choices(choices)
  else if (form !== undefined)
    option.argParser((text) => {
      if (form.test(text)) return text
      throw new InvalidArgumentError(`It must be ${form.expected}.`)
    })
  if (many === true) option.argParser((text, before: string[] = []) => [...before, text])
  return option
}
