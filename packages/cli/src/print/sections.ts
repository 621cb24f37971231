// Longer texts: facts under each other, and parts with a title.

import { plain } from './plain.ts'
import { alignRows } from './table.ts'

export const factLines = (facts: readonly (readonly [name: string, value: string])[]): string[] =>
  alignRows(facts.filter(([, value]) => value !== '').map(([name, value]) => [`${name}:`, plain(value)]))

export const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => (line === '' ? '' : `  ${line}`))]
