// Why a replica is nowhere: every node with every reason, and what would cure it. DECISIONS 7.

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

/** A table where it fits; its last column may be left out where the list below says the same; else node under node. */
export function matrixLines(explained: Explained, area: PrintArea): string[] {
  const { candidates, cure } = explained
  const forms = [
    () => tableOf(explained, area, true),
    ...(listSaysAll(explained) ? [() => tableOf(explained, area, false)] : []),
  ]
  const table = forms.map((form) => form()).find((lines) => fits(lines, area))
  return [
    ...(candidates.length === 0 ? [] : (table ?? candidates.flatMap((each) => blockOf(each, cure, area)))),
    ...cureLines(cure, area),
  ]
}

const fits = (lines: readonly string[], { columns }: PrintArea): boolean =>
  lines.every((line) => widthOf(line) <= columns)

const listSaysAll = ({ candidates, cure }: Explained): boolean =>
  candidates.every((each) => each.refusals.length === 0 || cure.includes(helpOf(each)))

/** Where nothing makes the node take a replica, its refusals say what to do instead. */
const helpOf = ({ cure, refusals }: Candidate): string =>
  cure?.text ?? refusals.map(({ fix }) => fix).join(' ')

function tableOf({ candidates }: Explained, { columns, colored }: PrintArea, withCure: boolean): string[] {
  const heads = ['NODE', 'REFUSES BY', 'REQUIRED', 'REPORTED', ...(withCure ? ['CURE'] : [])]
  const rows = candidates.flatMap((each) =>
    each.refusals.length === 0
      ? [[plain(each.nodeName), paint('accepts', 'green', colored), '', '']]
      : each.refusals.map(({ code, required, reported }, at) => [
          at === 0 ? plain(each.nodeName) : '',
          paint(plain(code), 'red', colored),
          valueText(required),
          valueText(reported),
          ...(withCure ? [at === 0 ? plain(helpOf(each)) : ''] : []),
        ]),
  )
  return alignRows([heads.map((head) => paint(head, 'gray', colored)), ...rows], columns)
}

function blockOf(candidate: Candidate, cure: readonly string[], area: PrintArea): string[] {
  const { columns, colored } = area
  const name = plain(candidate.nodeName)
  if (candidate.refusals.length === 0) return [`${name} ${paint('accepts', 'green', colored)}`]
  const help = helpOf(candidate)
  return [
    ...candidate.refusals.flatMap(({ code, required, reported }) => [
      `${name} refuses by ${paint(plain(code), 'red', colored)}`,
      ...hang(paint('  required  ', 'gray', colored), valueText(required), columns),
      ...hang(paint('  reported  ', 'gray', colored), valueText(reported), columns),
    ]),
    ...(cure.includes(help) ? [] : hang(paint('  cure      ', 'gray', colored), plain(help), columns)),
  ]
}

/** The cheapest first, as the server sends them. */
function cureLines(cure: readonly string[], { columns, colored }: PrintArea): string[] {
  if (cure.length === 0) return []
  const title = cure.length === 1 ? 'To run it:' : 'To run it, any one of these:'
  return ['', paint(title, 'bold', colored), ...cure.flatMap((each) => hang('  - ', plain(each), columns))]
}
