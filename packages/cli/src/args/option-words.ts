// Tells the options of a command line from its arguments, by the flags of the known options.

import type { Command, OptionSpec } from '../command.ts'

/** The words of a command line that are neither options nor option values. */
export function positional(typed: readonly string[], options: readonly OptionSpec[]): string[] {
  return positions(typed, options).map((at) => typed[at] ?? '')
}

function positions(typed: readonly string[], options: readonly OptionSpec[]): number[] {
  return [...typed.keys()].filter((at) => {
    const before = optionNamed(options, typed[at - 1] ?? '')
    return !typed[at]?.startsWith('-') && !(before !== undefined && takesValue(before))
  })
}

/** The command that the words begin with, by its name or an alias; the longest name wins. */
export function commandOf(
  commands: readonly Command[],
  words: readonly string[],
): { readonly command: Command; readonly length: number } | undefined {
  const [found] = commands
    .flatMap((command) => [command.name, ...(command.aliases ?? [])].map((name) => ({ command, name })))
    .filter(({ name }) => name.split(' ').every((word, at) => words[at] === word))
    .sort((left, right) => right.name.length - left.name.length)
  return found && { command: found.command, length: found.name.split(' ').length }
}

/** Puts `--` before the first word that a command passes on unread, so that `exec web ls -la` needs no quoting. */
export function protectVerbatim(
  words: readonly string[],
  commands: readonly Command[],
  globals: readonly OptionSpec[],
): readonly string[] {
  if (words.includes('--')) return words
  const found = commandOf(commands, positional(words, globals))
  const verbatim = found?.command.args?.findIndex((argument) => argument.verbatim === true) ?? -1
  if (found === undefined || verbatim < 0) return words
  const at = positions(words, [...(found.command.options ?? []), ...globals])[found.length + verbatim]
  return at === undefined ? words : [...words.slice(0, at), '--', ...words.slice(at)]
}

const flagsOf = ({ flags }: OptionSpec): string[] => flags.match(/--?[a-z-]+/g) ?? []
export const longFlags = (option: OptionSpec): string[] =>
  flagsOf(option).filter((flag) => flag.startsWith('--'))
export const takesValue = ({ flags }: OptionSpec): boolean => flags.includes('<')
export const optionNamed = (options: readonly OptionSpec[], word: string): OptionSpec | undefined =>
  options.find((option) => flagsOf(option).includes(word))
