// From what was typed to an exit code.

import { CommanderError } from 'commander'
import type { ChosenSettings, Command, Invocation, Settings } from './command.ts'
import { COMMANDS, GROUPS } from './commands/index.ts'
import { connect } from './connect.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { helpWords } from './help-words.ts'
import { printError } from './print/failure.ts'
import { buildProgram, type ParsedArguments } from './program.ts'
import { chooseSettings } from './settings/choose-settings.ts'
import { contextsPath, readContextsFile } from './settings/contexts-file.ts'
import { report, type Terminal } from './terminal/terminal.ts'

export type Env = { readonly [name: string]: string | undefined }

export async function run(words: readonly string[], env: Env, terminal: Terminal): Promise<ExitCode> {
  if (words[0] === COMPLETE) return printCompletions(words.slice(words.indexOf('--') + 1), env, terminal)
  let exitCode: ExitCode = EXIT.ok
  const program = buildProgram({
    ...{ commands: COMMANDS, groups: GROUPS, out: terminal.out, err: terminal.err },
    async onChosen(command, typed) {
      exitCode = await runCommand(command, invocationOf(typed, env, terminal))
    },
  })
  try {
    const parsed =
      words[0] === 'help' ? helpWords(words.slice(1), { commands: COMMANDS, groups: GROUPS }) : words
    await program.parseAsync(parsed, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (terminal.interrupted.aborted) return EXIT.interrupted
    printError(terminal, error instanceof Error ? error.message : 'something unknown went wrong')
    return EXIT.error
  }
}

/** Asked by shells, never by people: it is in no help. */
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
  const chosen = await invocation.settings()
  if (!chosen.ok) {
    printError(terminal, chosen.why)
    return EXIT.usage
  }
  const { url } = chosen.settings
  if (url === undefined) {
    printError(terminal, 'no platform is named: holdfast login --url <address>, or set HOLDFAST_URL')
    return EXIT.usage
  }
  const connected = await connect(invocation, { ...chosen.settings, url })
  if (connected.ok) return command.run(invocation, connected.client)
  printError(terminal, connected.why)
  return EXIT.usage
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
    ...{ args, text, terminal, contextsFile },
    texts: (option) => [given(option) ?? []].flat().filter((each) => typeof each === 'string'),
    flag: (option) => given(option) === true,
    // Asked for more than once, and warned of once.
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
  const flags: Settings = {
    ...(context === undefined ? {} : { context }),
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(caFile === undefined ? {} : { caFile }),
  }
  return chooseSettings({ flags, env, contexts: file.contexts })
}
