// Prints rejections and syntax errors with their position in the manifest file, in file order.

import { type Rejection, stepsOf } from '@holdfast/contract'
import {
  type FileText,
  fieldsAt,
  foreignSentence,
  hintFor,
  kindOf,
  locate,
  locateRejection,
  type Manifest,
  positionOf,
  receivedText,
  type Span,
  type SyntaxFault,
  secretSpans,
  writtenField,
} from '@holdfast/manifest'
import { errArea, indented } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { rejectionDetails, type ShownRejection } from '../print/failure.ts'
import { hang } from '../print/table.ts'
import { report, type Terminal } from '../terminal/terminal.ts'
import { quoteLine } from './quote-line.ts'

export function printRejections(
  terminal: Terminal,
  manifest: Manifest,
  rejections: readonly Rejection[],
): void {
  const hidden = secretSpans(manifest.tree)
  const area = indented(errArea(terminal), 2)
  const located = rejections
    .map((rejection) => ({ rejection, span: locateRejection(manifest, rejection) }))
    .sort((left, right) => left.span.start - right.span.start)
  const explained = new Set<string>()
  for (const { rejection, span } of located) {
    const field = writtenField(manifest, rejection.field)
    printAt(terminal, manifest.file, span, hidden, `${rejection.code} at ${field || 'the document'}`)
    for (const line of rejectionDetails(shownRejection(manifest, rejection, explained), area))
      report(terminal, `  ${line}`)
    // A blank line separates the errors on a terminal.
    if (terminal.errIsTerminal) report(terminal, '')
  }
}

/** Points at the name of a document whose deployment or volume an earlier document of the same call has, too. */
export function printDuplicate(terminal: Terminal, { file, tree, value }: Manifest, earlier: Manifest): void {
  const first = positionOf(earlier.file, locate(earlier.tree, ['name']).start)
  const place = `${earlier.file.name}:${first.line}:${first.column}`
  const problem = `the same ${kindOf(value).toLowerCase()} as in ${place}`
  printAt(terminal, file, locate(tree, ['name']), secretSpans(tree), problem)
}

/**
 * The rejection with what the file adds to it: a hint, and the type of the received value. The accepted names of an
 * object are listed with its first unknown field only.
 */
function shownRejection(manifest: Manifest, rejection: Rejection, explained: Set<string>): ShownRejection {
  const shown = {
    ...rejection,
    hint: hintFor(rejection, manifest.value),
    received: writtenValue(manifest, rejection) ?? receivedText(rejection, manifest.value),
  }
  if (rejection.code !== 'field_unknown') return shown
  const accepted = fieldsAt(stepsOf(rejection.field).slice(0, -1), kindOf(manifest.value))
  const expected = accepted.length === 0 ? rejection.expected : `one of ${accepted.join(', ')}`
  const isRepeated = explained.has(expected)
  explained.add(expected)
  return { ...shown, expected, received: '', isRepeated }
}

/** The value of a volume as the file has it: `1Mi` or the name of a node, instead of the value that was sent. */
function writtenValue({ conversions, value }: Manifest, { field, received }: Rejection): string | undefined {
  if (kindOf(value) !== 'Volume') return undefined
  const found = conversions.find(({ sentAs, amount }) => sentAs === field && String(amount) === received)
  return found?.written
}

/** Prints the one sentence about a document of another system. */
export function printForeign(terminal: Terminal, { file, tree, foreign }: Manifest): void {
  if (foreign === undefined) return
  const { line, column } = positionOf(file, locate(tree, [foreign.key], 'key').start)
  const { columns, colored } = errArea(terminal)
  const place = paint(`${file.name}:${line}:${column}: `, 'bold', colored)
  for (const text of hang(place, `${foreignSentence(foreign)}; ${foreign.next}.`, columns))
    report(terminal, text)
}

/** Prints a syntax error and quotes only the key of the line: in an unparsable file, any value may be a secret. */
export function printSyntaxFault(terminal: Terminal, { file, offset, message }: SyntaxFault): void {
  const { line } = file.lines.linePos(offset)
  const start = file.lines.lineStarts[line - 1] ?? 0
  const text = file.text.slice(start).split(/\r?\n|\r/, 1)[0] ?? ''
  const [key = ''] = /^[\s-]*[A-Za-z_][\w-]*\s*:/.exec(text) ?? []
  const hidden = [{ start: start + key.length, end: start + text.length }]
  printAt(terminal, file, { start: offset, end: offset + 1 }, hidden, `syntax: ${message}`)
}

function printAt(
  terminal: Terminal,
  file: FileText,
  span: Span,
  hidden: readonly Span[],
  problem: string,
): void {
  const { columns, colored } = errArea(terminal)
  const { line, column } = positionOf(file, span.start)
  const place = `${file.name}:${line}:${column}:`
  report(terminal, `${paint(place, 'bold', colored)} ${paint(problem, 'red', colored)}`)
  const [quoted = '', caret = ''] = quoteLine(file, span, hidden, columns - 2)
  report(terminal, `  ${quoted}`)
  report(terminal, `  ${paint(caret, 'red', colored)}`)
}
