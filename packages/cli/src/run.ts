// Parses the command line, runs the command and returns its exit code.

import { defined } from '@holdfast/contract'
import { CommanderError } from 'commander'
import { GLOBAL_OPTIONS } from './args/global-options.ts'
import { commandOf, positional, protectVerbatim } from './args/option-words.ts'
import { suggestCommand } from './args/suggest.ts'
import type { ChosenSettings, Command, Env, Invocation, Settings } from './command.ts'
import { COMMANDS, GROUPS } from './commands/index.ts'
import { openChosen } from './connect.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { errArea } from './print/area.ts'
import { printError } from './print/failure.ts'
import { wrapWords } from './print/fit.ts'
import { buildProgram, type ParsedArguments } from './program.ts'
import { chooseSettings } from './settings/choose-settings.ts'
import { contextsPath, readContextsFile } from './settings/contexts-file.ts'
import { report, type Terminal } from './terminal/terminal.ts'

export async function run(words: readonly string[], env: Env, terminal: Terminal): Promise<ExitCode> {
  if (words[0] === COMPLETE) return printCompletions(words.slice(words.indexOf('--') + 1), env, terminal)
  let exitCode: ExitCode = EXIT.ok
  const program = buildProgram({
    commands: COMMANDS,
    groups: GROUPS,
    out: terminal.out,
    err: terminal.err,
    async onChosen(command, typed) {
      exitCode = await runCommand(command, invocationOf(typed, env, terminal))
    },
  })
  try {
    const typed =
      words[0] === 'help'
        ? helpWords(words.slice(1))
        : protectVerbatim(withoutUnknownHelp(words), COMMANDS, GLOBAL_OPTIONS)
    await program.parseAsync(typed, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === 'commander.unknownCommand') printSuggestion(terminal, words)
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    }
    if (terminal.interrupted.aborted) return EXIT.interrupted
    printError(terminal, error instanceof Error ? error.message : 'an unknown error occurred')
    return EXIT.error
  }
}

function printSuggestion(terminal: Terminal, words: readonly string[]): void {
  const named = positional(words, GLOBAL_OPTIONS).filter((word) => word !== 'help')
  const group = groupIn(named)
  const unknown = named[group?.split(' ').length ?? 0] ?? ''
  const fitting = suggestCommand(COMMANDS, group, unknown)
  const { columns } = errArea(terminal)
  for (const line of wrapWords(fitting ?? 'holdfast help lists the commands', columns)) report(terminal, line)
}

/** The longest group that the words begin with, such as `rollout` or `volume replica`. */
function groupIn(words: readonly string[]): string | undefined {
  const groups = [words.slice(0, 2).join(' '), words[0] ?? '']
  return groups.find((group) => Object.hasOwn(GROUPS, group))
}

const isGroup = (words: readonly string[]): boolean => groupIn(words) === words.join(' ')

/**
 * Turns `help rollout undo` into `rollout undo --help`, so that help never runs a command. The words of an unknown
 * command are returned unchanged, and commander suggests the nearest command.
 */
function helpWords(typed: readonly string[]): string[] {
  const words = typed.filter((word) => !word.startsWith('-'))
  const command = commandOf(COMMANDS, words)
  if (command !== undefined) return [...words.slice(0, command.length), '--help']
  return words.length === 0 || isGroup(words) ? [...words, '--help'] : words
}

/** Removes `--help` after an unknown command, for which commander would print the help of its parent and succeed. */
function withoutUnknownHelp(words: readonly string[]): readonly string[] {
  const named = positional(words, GLOBAL_OPTIONS)
  if (named.length === 0 || isGroup(named) || commandOf(COMMANDS, named) !== undefined) return words
  return words.filter((word) => word !== '--help' && word !== '-h')
}

/** The internal command that shell completion calls. It is hidden from help. */
const COMPLETE = '__complete'

async function printCompletions(typed: readonly string[], env: Env, terminal: Terminal): Promise<ExitCode> {
  const [{ complete }, { typedSettings }] = await Promise.all([
    import('./completion/complete.ts'),
    import('./completion/typed-settings.ts'),
  ])
  const contextsFile = contextsPath(env)
  const found = await complete(COMMANDS, typed, {
    contextsFile,
    async settings() {
      const file = await readContextsFile(contextsFile)
      const flags = typedSettings(typed)
      const chosen = file.ok ? chooseSettings({ flags, env, contexts: file.contexts }) : file
      return chosen.ok ? chosen.settings : undefined
    },
  })
  terminal.out(found.map((word) => `${word}\n`).join(''))
  return EXIT.ok
}

async function runCommand(command: Command, invocation: Invocation): Promise<ExitCode> {
  if (!command.online) return command.run(invocation)
  const { terminal } = invocation
  const opened = await openChosen(invocation)
  if (opened.kind === 'failed') return opened.exit
  if (opened.kind === 'unset') {
    printError(terminal, 'no platform is configured; run holdfast login --url <address>, or set HOLDFAST_URL')
    return EXIT.usage
  }
  return command.run(invocation, opened.client)
}

function invocationOf({ args, options }: ParsedArguments, env: Env, terminal: Terminal): Invocation {
  const given = (option: string): unknown =>
    options[option.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase())]
  const text = (option: string): string | undefined => {
    const value = given(option)
    return typeof value === 'string' ? value : undefined
  }
  const contextsFile = contextsPath(env)
  let settings: Promise<ChosenSettings> | undefined
  return {
    args,
    text,
    terminal,
    env,
    contextsFile,
    texts: (option) => [given(option) ?? []].flat().filter((each) => typeof each === 'string'),
    flag: (option) => given(option) === true,
    // The settings are cached, so that a warning about the contexts file is printed once.
    settings() {
      settings ??= gatherSettings(text, env, terminal, contextsFile)
      return settings
    },
  }
}

async function gatherSettings(
  text: Invocation['text'],
  env: Env,
  terminal: Terminal,
  contextsFile: string,
): Promise<ChosenSettings> {
  const file = await readContextsFile(contextsFile)
  if (!file.ok) return file
  if (file.warning !== undefined) report(terminal, `warning: ${file.warning}`)
  const [context, url, token, tenant, caFile] = ['context', 'url', 'token', 'tenant', 'ca-file'].map(text)
  const flags: Settings = defined({ context, url, token, tenant, caFile })
  return chooseSettings({ flags, env, contexts: file.contexts })
}
