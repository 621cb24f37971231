// Prints every alteration and warning that the platform returned for a manifest (docs/design/admission.md#alterations).

import { type Alteration, isJsonObject, type Json, type Warning } from '@holdfast/contract'
import { report, type Terminal } from '../terminal/terminal.ts'
import { errArea, indented, type PrintArea } from './area.ts'
import { paint } from './color.ts'
import { plain } from './plain.ts'
import { alignRows, hang } from './table.ts'

export interface Announced {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

export function printAnnounced(terminal: Terminal, { alterations, warnings }: Announced): void {
  const area = errArea(terminal)
  const lines = terminal.errIsTerminal ? groupedLines(alterations, area) : alterations.map(singleLine)
  for (const line of lines) report(terminal, line)
  for (const { code, field, why } of warnings)
    for (const line of hang(
      `  ${paint('warning:', 'yellow', area.colored)} `,
      `${plain(field)}: ${plain(why)} (${code})`,
      area.columns,
    ))
      report(terminal, line)
}

/** One self-contained line per alteration, for logs and scripts. */
const singleLine = ({ code, field, from, to, why }: Alteration): string =>
  `  altered: ${plain(field)}: ${valueText(from)} -> ${valueText(to)} (${code}: ${plain(why)})`

/** The alterations as lines for a terminal. Alterations with the same reason are grouped under that reason. */
function groupedLines(alterations: readonly Alteration[], area: PrintArea): string[] {
  const groups = Map.groupBy(alterations, ({ code, why }) => `${code}: ${plain(why)}`)
  return [...groups].flatMap(([common, members]) => [
    ...hang(`  ${paint('altered:', 'blue', area.colored)} `, common, area.columns),
    ...alignRows(
      members.map(({ field, from, to }) => [
        paint(plain(field), 'gray', area.colored),
        from === null ? valueText(to) : `${valueText(from)} -> ${valueText(to)}`,
      ]),
      indented(area, 4).columns,
    ).map((line) => `    ${line}`),
  ])
}

const MAX_LENGTH = 200

/** Formats a value on one line, in YAML flow style. */
export function valueText(value: Json): string {
  const text = plain(isJsonObject(value) ? membersText(value) : flowText(value))
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text
}

function flowText(value: Json): string {
  if (value === null) return 'absent'
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  return isJsonObject(value) ? `{${membersText(value)}}` : String(value)
}

const membersText = (value: { readonly [name: string]: Json }): string =>
  Object.entries(value)
    .map(([name, member]) => `${name}: ${flowText(member)}`)
    .join(', ') || '{}'
