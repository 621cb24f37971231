// The terminal interface of commands. Results go to stdout, progress and errors to stderr. Prompts need a terminal.

export interface Terminal {
  /** Writes results to stdout. */
  out(text: string | Uint8Array): void
  /** Writes progress and errors to stderr. */
  err(text: string | Uint8Array): void
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  readonly inIsTerminal: boolean
  readonly color: boolean
  columns(): number
  rows(): number
  /** Reads stdin to its end. Rejects at Ctrl-C. */
  readInput(): Promise<Uint8Array>
  /** Prompts for a line without echo; undefined if there is no terminal. Rejects at Ctrl-C. */
  askSecret(question: string): Promise<string | undefined>
  /** Prompts for a line; undefined if there is no terminal. Rejects at Ctrl-C. */
  ask(question: string): Promise<string | undefined>
  /** Signal that is aborted by Ctrl-C or by a signal that ends the process. */
  readonly interrupted: AbortSignal
  now(): number
}

/** Prints a line to stderr. */
export const report = (terminal: Terminal, line: string): void => terminal.err(`${line}\n`)
/** Prints a line to stdout. */
export const print = (terminal: Terminal, line: string): void => terminal.out(`${line}\n`)
