// The type of a command. One value per command drives parsing, help, completion and the reference pages.

import type { Client } from '@holdfast/client'
import type { Form } from './args/forms.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Names that shell completion looks up on the platform or in the contexts file. */
export type LiveNames =
  | 'deployments'
  | 'nodes'
  | 'volumes'
  | 'networks'
  | 'backups'
  | 'jobs'
  | 'registries'
  | 'contexts'

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly optional?: boolean
  /** True if the argument is the last one and accepts all remaining words of the command line. */
  readonly many?: boolean
  readonly choices?: readonly string[]
  /** True if the command itself checks the value: help and completion offer the choices, parsing accepts others too. */
  readonly open?: boolean
  /** True if the words from this argument on are never options of this command, as in `exec web ls -la`. */
  readonly verbatim?: boolean
  /** The kind of names that completion offers for the argument; it may depend on the earlier arguments. */
  readonly completes?: LiveNames | ((before: readonly string[]) => LiveNames | undefined)
}

export interface OptionSpec {
  /** The option in commander's syntax: `-f, --filename <path>`. */
  readonly flags: string
  readonly summary: string
  /** True if the option may be repeated. */
  readonly many?: boolean
  readonly choices?: readonly string[]
  readonly form?: Form
}

export type Env = { readonly [name: string]: string | undefined }

/** The parsed and checked command line. Commands read an option by its long name. */
export interface Invocation {
  readonly args: readonly string[]
  text(option: string): string | undefined
  texts(option: string): readonly string[]
  flag(option: string): boolean
  readonly terminal: Terminal
  /** The environment of the process. */
  readonly env: Env
  readonly contextsFile: string
  settings(): Promise<ChosenSettings>
}

/** The platform to call and the credentials. Flags override environment variables, which override the contexts file. */
export interface Settings {
  readonly context?: string
  readonly url?: string
  readonly token?: string
  /** True if the token comes from the contexts file, so that no other context may store it. */
  readonly tokenIsStored?: boolean
  /** Name or id of the tenant. */
  readonly tenant?: string
  /** Path of a PEM file. The client trusts only the certificate authorities in that file. */
  readonly caFile?: string
}

export type ChosenSettings =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly why: string }

interface CommonParts {
  /** All words of the command, such as `rollout status`. */
  readonly name: string
  /** Other words by which users of similar tools call the command, such as `rollback`. Help lists only the name. */
  readonly aliases?: readonly string[]
  readonly summary: string
  /** Further text about the command, for its help and its reference page. */
  readonly details?: string
  readonly args?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** Example command lines, each with a description of its effect. */
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
