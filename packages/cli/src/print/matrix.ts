// Why a replica is nowhere: every node with every reason, and what would cure it. DECISIONS 7.

import type { Candidate } from '@holdfast/contract'
import { valueText } from './changes.ts'
import { paint } from './color.ts'
import { widthOf } from './fit.ts'
import { plain } from './plain.ts'
import type { Sheet } from './sheet.ts'
import { alignRows, hang } from './table.ts'

export interface Explained {
  readonly candidates: readonly Candidate[]
  readonly cure: readonly string[]
}

/** A table where it fits; its last column may be left out where the cures say the same; else node under node. */
export function matrixLines(explained: Explained, sheet: Sheet): string[] {
  const { candidates, cure } = explained
  const forms = [
    () => tableOf(explained, sheet, true),
    ...(curesSayAll(explained) ? [() => tableOf(explained, sheet, false)] : []),
  ]
  const table = forms.map((form) => form()).find((lines) => fits(lines, sheet))
  return [
    ...(candidates.length === 0 ? [] : (table ?? candidates.flatMap((each) => blockOf(each, cure, sheet)))),
    ...cureLines(cure, sheet),
  ]
}

const fits = (lines: readonly string[], { columns }: Sheet): boolean =>
  lines.every((line) => widthOf(line) <= columns)

const curesSayAll = ({ candidates, cure }: Explained): boolean =>
  candidates.every(({ refusals }) => refusals.every(({ fix }) => cure.includes(fix)))

function tableOf({ candidates }: Explained, { colored }: Sheet, withFix: boolean): string[] {
  const heads = ['NODE', 'REFUSES BY', 'REQUIRED', 'REPORTED', ...(withFix ? ['FIX'] : [])]
  const rows = candidates.flatMap(({ nodeName, refusals }) =>
    refusals.length === 0
      ? [[plain(nodeName), paint('accepts', 'green', colored), '', '']]
      : refusals.map(({ code, required, reported, fix }, at) => [
          at === 0 ? plain(nodeName) : '',
          paint(plain(code), 'red', colored),
          valueText(required),
          valueText(reported),
          ...(withFix ? [plain(fix)] : []),
        ]),
  )
  return alignRows([heads.map((head) => paint(head, 'gray', colored)), ...rows])
}

function blockOf({ nodeName, refusals }: Candidate, cure: readonly string[], sheet: Sheet): string[] {
  const { columns, colored } = sheet
  const name = plain(nodeName)
  if (refusals.length === 0) return [`${name} ${paint('accepts', 'green', colored)}`]
  return refusals.flatMap(({ code, required, reported, fix }) => [
    `${name} refuses by ${paint(plain(code), 'red', colored)}`,
    ...hang(paint('  required  ', 'gray', colored), valueText(required), columns),
    ...hang(paint('  reported  ', 'gray', colored), valueText(reported), columns),
    ...(cure.includes(fix) ? [] : hang(paint('  fix       ', 'gray', colored), plain(fix), columns)),
  ])
}

function cureLines(cure: readonly string[], { columns, colored }: Sheet): string[] {
  if (cure.length === 0) return []
  const title = cure.length === 1 ? 'This would do:' : 'Any one of these would do:'
  return ['', paint(title, 'bold', colored), ...cure.flatMap((each) => hang('  - ', plain(each), columns))]
}
