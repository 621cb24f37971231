// Sizes of volumes on the command line: a quantity such as 10Gi. The manifest package converts them.

import type { ExitCode } from '../exit-codes.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type TypedSize = { readonly bytes: number } | { readonly exitCode: ExitCode }

/** Converts a size, or prints why it is none. */
export async function typedSize(terminal: Terminal, typed: string): Promise<TypedSize> {
  const { sizeBytesOf } = await import('@holdfast/manifest')
  const bytes = sizeBytesOf(typed)
  if (typeof bytes === 'number') return { bytes }
  const why = /^[0-9]+$/.test(typed) ? 'The unit is missing.' : bytes
  printError(terminal, `"${typed}" is not a size. ${why} Write a number with a unit, for example 10Gi.`)
  return { exitCode: EXIT.usage }
}
