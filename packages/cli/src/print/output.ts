// -o: the same items for people, for machines and for shells. JSON and YAML are what the API answered, times absolute.

import type { OptionSpec } from '../command.ts'
import { print, type Terminal } from '../terminal.ts'
import { outSheet } from './sheet.ts'
import { type Column, tableLines } from './table.ts'

const OUTPUTS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export const OUTPUT_OPTION: OptionSpec = {
  flags: '-o, --output <form>',
  summary: 'how to show it (default: table)',
  choices: OUTPUTS,
}

export interface Printed<T> {
  /** `deployment` in `deployment/web`. */
  readonly kind: string
  nameOf(item: T): string
  readonly columns: readonly Column<T>[]
}

/** `one`: a single thing was asked for, so machines get it bare. */
export async function printItems<T>(
  terminal: Terminal,
  form: string | undefined,
  { kind, nameOf, columns }: Printed<T>,
  items: readonly T[],
  one = false,
): Promise<void> {
  const whole = one ? items[0] : { items }
  if (form === 'json') return print(terminal, JSON.stringify(whole, null, 2))
  if (form === 'yaml') return terminal.out(await yamlText(whole))
  if (form === 'name') return terminal.out(items.map((item) => `${kind}/${nameOf(item)}\n`).join(''))
  const lines = tableLines(columns, items, {
    ...{ nowMs: terminal.now(), wide: form === 'wide' },
    ...outSheet(terminal),
  })
  // An empty list is no data: who pipes it on gets nothing.
  if (items.length === 0) return terminal.err(`no ${kind}s\n`)
  terminal.out(`${lines.join('\n')}\n`)
}

export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}
