// Explains why a replica has no node: every node with every reason against it, and the remedies
// (docs/design/placement.md#explanations).

import type { Candidate } from '@holdfast/contract'
import type { PrintArea } from './area.ts'
import { valueText } from './changes.ts'
import { paint } from './color.ts'
import { widthOf } from './fit.ts'
import { plain } from './plain.ts'
import { alignRows, hang } from './table.ts'

export interface Explained {
  readonly candidates: readonly Candidate[]
  readonly cure: readonly string[]
}

/**
 * Explains the placement as a table if the terminal is wide enough, otherwise as one block per node. The table's last
 * column is dropped if the list of remedies below the table repeats it.
 */
export function matrixLines(explained: Explained, area: PrintArea): string[] {
  const { candidates, cure } = explained
  const forms = [
    () => tableOf(explained, area, true),
    ...(listHasAll(explained) ? [() => tableOf(explained, area, false)] : []),
  ]
  const table = forms.map((form) => form()).find((lines) => fits(lines, area))
  return [
    ...(candidates.length === 0 ? [] : (table ?? candidates.flatMap((each) => blockOf(each, cure, area)))),
    ...remedyLines(cure, area),
  ]
}

const fits = (lines: readonly string[], { columns }: PrintArea): boolean =>
  lines.every((line) => widthOf(line) <= columns)

const listHasAll = ({ candidates, cure }: Explained): boolean =>
  candidates.every((each) => each.refusals.length === 0 || cure.includes(remedyOf(each)))

/** The remedy of a node. A node without a remedy shows the hints of the reasons against it. */
const remedyOf = ({ cure, refusals }: Candidate): string =>
  cure?.text ?? refusals.map(({ fix }) => fix).join(' ')

function tableOf({ candidates }: Explained, { columns, colored }: PrintArea, withRemedy: boolean): string[] {
  const heads = ['NODE', 'REASON', 'REQUIRED', 'REPORTED', ...(withRemedy ? ['REMEDY'] : [])]
  const rows = candidates.flatMap((each) =>
    each.refusals.length === 0
      ? [[plain(each.nodeName), paint('fits', 'green', colored), '', '']]
      : each.refusals.map(({ code, required, reported }, at) => [
          at === 0 ? plain(each.nodeName) : '',
          paint(plain(code), 'red', colored),
          valueText(required),
          valueText(reported),
          ...(withRemedy ? [at === 0 ? plain(remedyOf(each)) : ''] : []),
        ]),
  )
  return alignRows([heads.map((head) => paint(head, 'gray', colored)), ...rows], columns)
}

function blockOf(candidate: Candidate, cure: readonly string[], area: PrintArea): string[] {
  const { columns, colored } = area
  const name = plain(candidate.nodeName)
  if (candidate.refusals.length === 0) return [`${name}: ${paint('fits', 'green', colored)}`]
  const remedy = remedyOf(candidate)
  return [
    ...candidate.refusals.flatMap(({ code, required, reported }) => [
      `${name}: ${paint(plain(code), 'red', colored)}`,
      ...hang(paint('  required  ', 'gray', colored), valueText(required), columns),
      ...hang(paint('  reported  ', 'gray', colored), valueText(reported), columns),
    ]),
    ...(cure.includes(remedy) ? [] : hang(paint('  remedy    ', 'gray', colored), plain(remedy), columns)),
  ]
}

/** The lines that list the remedies, in the order of the server: the cheapest remedy first. */
function remedyLines(cure: readonly string[], { columns, colored }: PrintArea): string[] {
  if (cure.length === 0) return []
  const title = cure.length === 1 ? 'To run it:' : 'To run it, do one of these:'
  return ['', paint(title, 'bold', colored), ...cure.flatMap((each) => hang('  - ', plain(each), columns))]
}
