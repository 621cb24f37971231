// Layout of longer texts: aligned name-value lines, and sections with a title.

import type { PrintArea } from './area.ts'
import { paint } from './color.ts'
import { plain } from './plain.ts'
import { alignRows } from './table.ts'

export const factLines = (
  facts: readonly (readonly [name: string, value: string])[],
  { columns, colored }: PrintArea,
): string[] =>
  alignRows(
    facts
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [paint(`${name}:`, 'gray', colored), plain(value)]),
    columns,
  )

export const section = (title: string, lines: readonly string[], { colored }: PrintArea): string[] =>
  lines.length === 0 ? [] : ['', paint(`${title}:`, 'bold', colored), ...indent(lines)]

/** Indents by two spaces; empty lines stay empty. */
export const indent = (lines: readonly string[]): string[] =>
  lines.map((line) => (line === '' ? '' : `  ${line}`))
