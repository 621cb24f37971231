// -o: the same items for people, for machines and for shells. JSON and YAML are what the API answered, times absolute.

import type { OptionSpec } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { outArea } from './area.ts'
import { printError } from './failure.ts'
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
  /** Where it is more than the kind with an s. */
  readonly plural?: string
  /** What to type where there is none yet. */
  readonly begin?: string
  nameOf(item: T): string
  readonly columns: readonly Column<T>[]
}

/** `one`: a single thing was asked for, so machines get it bare. */
export async function printItems<T>(
  terminal: Terminal,
  form: string | undefined,
  printed: Printed<T>,
  items: readonly T[],
  one = false,
): Promise<void> {
  const { kind, nameOf, columns } = printed
  const whole = one ? items[0] : { items }
  if (form === 'json') return print(terminal, JSON.stringify(whole, null, 2))
  if (form === 'yaml') return terminal.out(await yamlText(whole))
  if (form === 'name') return terminal.out(items.map((item) => `${kind}/${nameOf(item)}\n`).join(''))
  const lines = tableLines(columns, items, {
    ...{ nowMs: terminal.now(), wide: form === 'wide' },
    ...outArea(terminal),
  })
  // An empty list is no data: who pipes it on gets nothing.
  if (items.length === 0) return printNone(terminal, printed)
  terminal.out(`${lines.join('\n')}\n`)
}

/** The next step is for people; a script reads the same words always. */
function printNone(
  terminal: Terminal,
  { kind, plural = `${kind}s`, begin }: Pick<Printed<never>, 'kind' | 'plural' | 'begin'>,
): void {
  const next = begin === undefined || !terminal.errIsTerminal ? '' : ` yet: ${begin}`
  report(terminal, `no ${plural}${next}`)
}

export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** YAML that goes on is no document; a table would not be what was asked for. */
export function refuseYamlWatch(terminal: Terminal): ExitCode {
  printError(terminal, '--watch gives a table, names, or with -o json one object a line; no YAML')
  return EXIT.usage
}
