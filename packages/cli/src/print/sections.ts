// Longer texts: facts under each other, and parts with a title.

import { paint } from './color.ts'
import { plain } from './plain.ts'
import type { Sheet } from './sheet.ts'
import { alignRows } from './table.ts'

export const factLines = (
  facts: readonly (readonly [name: string, value: string])[],
  { columns, colored }: Sheet,
): string[] =>
  alignRows(
    facts
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [paint(`${name}:`, 'gray', colored), plain(value)]),
    columns,
  )

export const section = (title: string, lines: readonly string[], { colored }: Sheet): string[] =>
  lines.length === 0 ? [] : ['', paint(`${title}:`, 'bold', colored), ...setIn(lines)]

/** By two blanks; an empty line stays empty. */
export const setIn = (lines: readonly string[]): string[] =>
  lines.map((line) => (line === '' ? '' : `  ${line}`))
