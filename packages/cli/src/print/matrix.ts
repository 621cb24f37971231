// Explains why a replica has no node: every node with every reason against it, and the remedies
// (docs/design/placement.md#explanations).

import type { Candidate, NodeGroup } from '@holdfast/contract'
import type { PrintArea } from './area.ts'
import { valueText } from './changes.ts'
import { paint } from './color.ts'
import { widthOf } from './fit.ts'
import { plain } from './plain.ts'
import { alignRows, hang } from './table.ts'

export interface Explained {
  readonly candidates: readonly Candidate[]
  /** The nodes in groups of equal reasons, instead of candidates. */
  readonly groups?: readonly NodeGroup[] | undefined
  readonly cure: readonly string[]
  /** The aim of the remedies, which completes the title "To ...:"; absent: run it. */
  readonly goal?: string
}

/** A node, or a group of nodes, as a row. */
interface Row extends Pick<Candidate, 'nodeName' | 'cure'> {
  readonly refusals: readonly Pick<Candidate['refusals'][number], 'code' | 'required' | 'reported' | 'fix'>[]
}

interface Rows {
  readonly candidates: readonly Row[]
  readonly cure: readonly string[]
}

const MOST_NAMED = 3

function toRow({ reasons, nodes, count, cure }: NodeGroup): Row {
  const more = count - Math.min(MOST_NAMED, nodes.length)
  const names = nodes.slice(0, MOST_NAMED).join(', ')
  const nodeName = more === 0 ? names : `${names} and ${more} more`
  const refusals = reasons.map(({ fix = '', ...reason }) => ({ ...reason, fix }))
  return { nodeName, refusals, ...(cure === undefined ? {} : { cure }) }
}

/**
 * Explains the placement as a table if the terminal is wide enough, otherwise as one block per node. The table's last
 * column is dropped if the list of remedies below the table repeats it.
 */
export function matrixLines(
  { candidates: each, groups, cure, goal = 'run it' }: Explained,
  area: PrintArea,
): string[] {
  const candidates = groups?.map(toRow) ?? each
  const explained: Rows = { candidates, cure }
  const forms = [
    () => tableOf(explained, area, true),
    ...(listHasAll(explained) ? [() => tableOf(explained, area, false)] : []),
  ]
  const table = forms.map((form) => form()).find((lines) => fits(lines, area))
  return [
    ...(candidates.length === 0 ? [] : (table ?? candidates.flatMap((row) => blockOf(row, cure, area)))),
    ...remedyLines(cure, goal, area),
  ]
}

const fits = (lines: readonly string[], { columns }: PrintArea): boolean =>
  lines.every((line) => widthOf(line) <= columns)

const listHasAll = ({ candidates, cure }: Rows): boolean =>
  candidates.every((each) => each.refusals.length === 0 || cure.includes(remedyOf(each)))

/** The remedy of a node. A node without a remedy shows the hints of the reasons against it. */
const remedyOf = ({ cure, refusals }: Row): string => cure?.text ?? refusals.map(({ fix }) => fix).join(' ')

function tableOf({ candidates }: Rows, { columns, colored }: PrintArea, withRemedy: boolean): string[] {
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

function blockOf(candidate: Row, cure: readonly string[], area: PrintArea): string[] {
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
function remedyLines(cure: readonly string[], goal: string, { columns, colored }: PrintArea): string[] {
  if (cure.length === 0) return []
  const title = cure.length === 1 ? `To ${goal}:` : `To ${goal}, do one of these:`
  return ['', paint(title, 'bold', colored), ...cure.flatMap((each) => hang('  - ', plain(each), columns))]
}
