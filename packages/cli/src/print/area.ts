// Width and color of the output: a terminal has a width and may have color, a file or a pipe has neither.

import type { Terminal } from '../terminal/terminal.ts'

export interface PrintArea {
  readonly columns: number
  readonly colored: boolean
}

export const outArea = (terminal: Terminal): PrintArea => areaOf(terminal, terminal.outIsTerminal)
export const errArea = (terminal: Terminal): PrintArea => areaOf(terminal, terminal.errIsTerminal)

const areaOf = (terminal: Terminal, isTerminal: boolean): PrintArea => ({
  columns: isTerminal ? terminal.columns() : Number.POSITIVE_INFINITY,
  colored: terminal.color && isTerminal,
})

/** The print area that remains after an indentation. */
export const indented = ({ columns, colored }: PrintArea, by: number): PrintArea => ({
  columns: columns - by,
  colored,
})
