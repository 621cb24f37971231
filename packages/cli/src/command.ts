// What a command is: one value that drives parsing, help, completion and the reference pages. One file for each.

import type { Client } from '@holdfast/client'
import type { Form } from './args/forms.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Names that completion can look up on the platform. */
export type LiveNames = 'deployments' | 'nodes' | 'registries' | 'contexts'

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly optional?: boolean
  /** Takes all that is left. */
  readonly many?: boolean
  readonly choices?: readonly string[]
  /** Where it is a name: of what, which may depend on the arguments before it. */
  readonly completes?: LiveNames | ((before: readonly string[]) => LiveNames | undefined)
}

export interface OptionSpec {
  /** As commander writes them: `-f, --filename <path>`. */
  readonly flags: string
  readonly summary: string
  /** May be given several times. */
  readonly many?: boolean
  readonly choices?: readonly string[]
  readonly form?: Form
}

/** What was typed, checked for its form. Options are asked for by their long name. */
export interface Invocation {
  readonly args: readonly string[]
  text(option: string): string | undefined
  texts(option: string): readonly string[]
  flag(option: string): boolean
  readonly terminal: Terminal
  readonly contextsFile: string
  settings(): Promise<ChosenSettings>
}

/** Where to ask and as whom: flags over environment over file. */
export interface Settings {
  readonly context?: string
  readonly url?: string
  readonly token?: string
  readonly tenant?: string
  /** A file of the authorities that alone are trusted there. */
  readonly caFile?: string
}

export type ChosenSettings =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly why: string }

interface CommonParts {
  /** All its words: `rollout status`. */
  readonly name: string
  readonly summary: string
  /** For its page, beside the summary. */
  readonly details?: string
  readonly args?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** Each as it is typed, with what it does. */
  readonly examples: readonly (readonly [typed: string, does: string])[]
}

export interface OfflineCommand extends CommonParts {
  readonly online: false
  run(invocation: Invocation): Promise<ExitCode>
}

export interface OnlineCommand extends CommonParts {
  readonly online: true
  run(invocation: Invocation, client: Client): Promise<ExitCode>
}

export type Command = OfflineCommand | OnlineCommand
