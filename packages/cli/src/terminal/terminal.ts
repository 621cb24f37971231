// What a command sees of the terminal it runs in. Data goes to stdout, talk to stderr, and nobody is asked anything who
// does not sit at a terminal.

export interface Terminal {
  /** Data. */
  out(text: string | Uint8Array): void
  /** Talk. */
  err(text: string | Uint8Array): void
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  readonly inIsTerminal: boolean
  readonly color: boolean
  columns(): number
  rows(): number
  /** All of stdin, as bytes. Rejects at Ctrl-C. */
  readInput(): Promise<Uint8Array>
  /** A line that is not shown while it is typed; undefined where nobody can be asked. Rejects at Ctrl-C. */
  askSecret(question: string): Promise<string | undefined>
  /** Fires at Ctrl-C. */
  readonly interrupted: AbortSignal
  now(): number
}

/** With its line break, which everything that is printed has. */
export const report = (terminal: Terminal, line: string): void => terminal.err(`${line}\n`)
export const print = (terminal: Terminal, line: string): void => terminal.out(`${line}\n`)
