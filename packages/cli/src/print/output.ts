// The -o option: prints items as a table, as names, or as JSON and YAML exactly as the API returned them.

import type { OptionSpec } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { outArea } from './area.ts'
import { printError } from './failure.ts'
import { type Column, tableLines } from './table.ts'

const OUTPUTS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export const OUTPUT_OPTION: OptionSpec = {
  flags: '-o, --output <form>',
  summary: 'output format (default: table)',
  choices: OUTPUTS,
}

export interface Printed<T> {
  /** The kind of resource, such as `deployment` in `deployment/web`. */
  readonly kind: string
  /** Plural of the kind; set only if the plural is not the kind followed by an s. */
  readonly plural?: string
  /** Suggestion for the next step, printed when the list is empty. */
  readonly begin?: string
  nameOf(item: T): string
  readonly columns: readonly Column<T>[]
}

/** Prints items. `one`: a single item was requested, so JSON and YAML print that item without a list around it. */
export async function printItems<T>(
  terminal: Terminal,
  form: string | undefined,
  printed: Printed<T>,
  items: readonly T[],
  one = false,
): Promise<void> {
  const { kind, nameOf, columns } = printed
  const value = one ? items[0] : { items }
  if (form === 'json') return print(terminal, JSON.stringify(value, null, 2))
  if (form === 'yaml') return terminal.out(await yamlText(value))
  if (form === 'name') return terminal.out(items.map((item) => `${kind}/${nameOf(item)}\n`).join(''))
  const lines = tableLines(columns, items, {
    nowMs: terminal.now(),
    wide: form === 'wide',
    ...outArea(terminal),
  })
  // An empty list prints nothing to stdout, so that a pipe gets no header.
  if (items.length === 0) return printNone(terminal, printed)
  terminal.out(`${lines.join('\n')}\n`)
}

/** Reports an empty list. The suggested next step is shown on a terminal only, so that scripts get a constant text. */
function printNone(
  terminal: Terminal,
  { kind, plural = `${kind}s`, begin }: Pick<Printed<never>, 'kind' | 'plural' | 'begin'>,
): void {
  const next = begin === undefined || !terminal.errIsTerminal ? '' : ` yet; ${begin}`
  report(terminal, `no ${plural}${next}`)
}

export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Rejects `-o yaml` with --watch, because a growing list is not a valid YAML document. */
export function refuseYamlWatch(terminal: Terminal): ExitCode {
  printError(terminal, '--watch does not support -o yaml; use -o json for one object per line')
  return EXIT.usage
}
