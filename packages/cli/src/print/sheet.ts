// What is written on: a terminal has a width and colours, a file or a pipe has neither.

import type { Terminal } from '../terminal.ts'

export interface Sheet {
  readonly columns: number
  readonly colored: boolean
}

export const outSheet = (terminal: Terminal): Sheet => sheetOf(terminal, terminal.outIsTerminal)
export const errSheet = (terminal: Terminal): Sheet => sheetOf(terminal, terminal.errIsTerminal)

const sheetOf = (terminal: Terminal, isTerminal: boolean): Sheet => ({
  columns: isTerminal ? terminal.columns() : Number.POSITIVE_INFINITY,
  colored: terminal.color && isTerminal,
})

/** For what is set in by so much. */
export const indented = ({ columns, colored }: Sheet, by: number): Sheet => ({
  columns: columns - by,
  colored,
})
