// Completion candidates for a command line, from the same command table that parses command lines.

import { defined } from '@holdfast/contract'
import type { ArgumentSpec, Command, LiveNames, OptionSpec } from '../command.ts'

export interface Candidates {
  readonly words: readonly string[]
  /** The kind of names to request from the platform, or to read from the contexts file. */
  readonly live?: LiveNames
}

const NONE: Candidates = { words: [] }

/** Returns completion candidates. `typed`: the words up to the cursor; the last word is incomplete and may be empty. */
export function candidatesFor(
  commands: readonly Command[],
  globals: readonly OptionSpec[],
  typed: readonly string[],
): Candidates {
  const before = typed.slice(0, -1)
  const current = typed.at(-1) ?? ''
  const command = longestMatch(commands, positional(before, globals))
  const options = [...(command?.options ?? []), ...globals]
  const valueOption = optionNamed(options, before.at(-1) ?? '')
  if (valueOption !== undefined && takesValue(valueOption)) return ofValue(valueOption)
  if (current.startsWith('-')) return { words: options.flatMap(longFlags) }
  if (command === undefined) return { words: nextWords(commands, positional(before, globals)) }
  const given = positional(before, options).slice(command.name.split(' ').length)
  const { args = [] } = command
  const last = args.at(-1)
  return ofArgument(args[given.length] ?? (last?.many === true ? last : undefined), given)
}

function longestMatch(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((word, at) => words[at] === word))
    .sort((left, right) => right.name.length - left.name.length)[0]
}

function nextWords(commands: readonly Command[], typed: readonly string[]): string[] {
  const fitting = commands.filter(({ name }) => typed.every((word, at) => name.split(' ')[at] === word))
  return [...new Set(fitting.map(({ name }) => name.split(' ')[typed.length] ?? ''))].filter(
    (word) => word !== '',
  )
}

/** The words of a command line that are neither options nor option values. */
function positional(typed: readonly string[], options: readonly OptionSpec[]): string[] {
  return typed.filter((word, at) => {
    const before = optionNamed(options, typed[at - 1] ?? '')
    return !word.startsWith('-') && !(before !== undefined && takesValue(before))
  })
}

const flagsOf = ({ flags }: OptionSpec): string[] => flags.match(/--?[a-z-]+/g) ?? []
const longFlags = (option: OptionSpec): string[] => flagsOf(option).filter((flag) => flag.startsWith('--'))
const takesValue = ({ flags }: OptionSpec): boolean => flags.includes('<')
const optionNamed = (options: readonly OptionSpec[], word: string): OptionSpec | undefined =>
  options.find((option) => flagsOf(option).includes(word))

const ofValue = ({ flags, choices }: OptionSpec): Candidates =>
  flags.startsWith('--context ') ? { words: [], live: 'contexts' } : { words: choices ?? [] }

function ofArgument(argument: ArgumentSpec | undefined, before: readonly string[]): Candidates {
  if (argument === undefined) return NONE
  const { choices = [], completes } = argument
  const live = typeof completes === 'function' ? completes(before) : completes
  return { words: choices, ...defined({ live }) }
}
