// Completion candidates for a command line, from the same command table that parses command lines.

import { defined } from '@holdfast/contract'
import { commandOf, longFlags, optionNamed, positional, takesValue } from '../args/option-words.ts'
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
  const found = commandOf(commands, positional(before, globals))
  const command = found?.command
  const options = [...(command?.options ?? []), ...globals]
  const valueOption = optionNamed(options, before.at(-1) ?? '')
  if (valueOption !== undefined && takesValue(valueOption)) return ofValue(valueOption)
  if (current.startsWith('-')) return { words: options.flatMap(longFlags) }
  if (found === undefined || command === undefined)
    return { words: nextWords(commands, positional(before, globals)) }
  const given = positional(before, options).slice(found.length)
  const { args = [] } = command
  const last = args.at(-1)
  const candidates = ofArgument(args[given.length] ?? (last?.many === true ? last : undefined), given)
  if (given.length > 0) return candidates
  // Some commands are also the first words of others, such as `volume divergences` and `volume divergences delete`.
  return { ...candidates, words: [...candidates.words, ...nextWords(commands, command.name.split(' '))] }
}

function nextWords(commands: readonly Command[], typed: readonly string[]): string[] {
  const fitting = commands.filter(({ name }) => typed.every((word, at) => name.split(' ')[at] === word))
  return [...new Set(fitting.map(({ name }) => name.split(' ')[typed.length] ?? ''))].filter(
    (word) => word !== '',
  )
}

const ofValue = ({ flags, choices }: OptionSpec): Candidates =>
  flags.startsWith('--context ') ? { words: [], live: 'contexts' } : { words: choices ?? [] }

function ofArgument(argument: ArgumentSpec | undefined, before: readonly string[]): Candidates {
  if (argument === undefined) return NONE
  const { choices = [], completes } = argument
  const live = typeof completes === 'function' ? completes(before) : completes
  return { words: choices, ...defined({ live }) }
}
