// Prints the report of an import: what was refused first, then what was changed, then the secrets to write.

import type { Finding, Imported, Outcome } from '@holdfast/manifest/compose'
import { errArea, indented } from '../../print/area.ts'
import { type Color, paint } from '../../print/color.ts'
import { count } from '../../print/count.ts'
import { plain } from '../../print/plain.ts'
import { hang } from '../../print/table.ts'
import { report, type Terminal } from '../../terminal/terminal.ts'

const SECTIONS: readonly (readonly [outcome: Outcome, title: string, color: Color])[] = [
  ['refused', 'Not carried over', 'red'],
  ['changed', 'Carried over with a change', 'yellow'],
  ['ignored', 'Ignored, because it has no effect', 'gray'],
]

export function printReport(terminal: Terminal, file: string, imported: Imported): void {
  const { columns, colored } = errArea(terminal)
  for (const [outcome, title, color] of SECTIONS) {
    const found = imported.findings.filter((finding) => finding.outcome === outcome)
    if (found.length === 0) continue
    report(terminal, paint(`${title}:`, color, colored))
    for (const finding of found) printFinding(terminal, file, finding)
    report(terminal, '')
  }
  const sections = [
    ['Secrets to write before holdfast apply:', imported.secrets.map(({ command }) => command)],
    ['Notes:', imported.notes],
  ] as const
  for (const [title, lines] of sections) {
    if (lines.length === 0) continue
    report(terminal, paint(title, 'bold', colored))
    for (const line of lines) for (const part of hang('  ', plain(line), columns)) report(terminal, part)
    report(terminal, '')
  }
  for (const line of hang('', plain(`${file}: ${countsText(imported)}`), columns)) report(terminal, line)
}

function printFinding(
  terminal: Terminal,
  file: string,
  { path, line, what, why, next, outcome }: Finding,
): void {
  const { columns, colored } = errArea(terminal)
  const area = indented(errArea(terminal), 2)
  const place = paint(`${file}:${line}: `, 'bold', colored)
  for (const each of hang(place, plain(`${path}${outcome === 'changed' ? `: ${what}` : ''}`), columns))
    report(terminal, each)
  const details = [['why:  ', why] as const, ...(next === '' ? [] : [['next: ', next] as const])]
  for (const [label, detail] of details)
    for (const each of hang(paint(label, 'gray', colored), plain(detail), area.columns))
      report(terminal, `  ${each}`)
}

function countsText({ documents, carried, findings }: Imported): string {
  const kinds = Map.groupBy(documents, ({ kind }) => String(kind).toLowerCase())
  const written = [...kinds].map(([kind, { length }]) => count(length, kind))
  const outcomes = SECTIONS.map(([outcome]) => {
    const found = findings.filter((finding) => finding.outcome === outcome).length
    return `${found} ${outcome}`
  })
  return `${written.join(', ') || 'no document'}; ${[`${carried.length} members carried over`, ...outcomes].join(', ')}`
}
