// Prints rejections and syntax errors with their position in the manifest file, in file order.

import type { Rejection } from '@holdfast/contract'
import { stepsOf } from '@holdfast/contract'
import {
  type FileText,
  locate,
  type Manifest,
  positionOf,
  type Span,
  type SyntaxFault,
  secretSpans,
} from '@holdfast/manifest'
import { errArea, indented } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { rejectionDetails } from '../print/failure.ts'
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
    .map((rejection) => ({ rejection, span: locate(manifest.tree, stepsOf(rejection.field)) }))
    .sort((left, right) => left.span.start - right.span.start)
  for (const { rejection, span } of located) {
    printAt(
      terminal,
      manifest.file,
      span,
      hidden,
      `${rejection.code} at ${rejection.field || 'the document'}`,
    )
    for (const line of rejectionDetails(rejection, area)) report(terminal, `  ${line}`)
    // A blank line separates the errors on a terminal.
    if (terminal.errIsTerminal) report(terminal, '')
  }
}

/** Points at the name of a document whose deployment an earlier document of the same call has, too. */
export function printDuplicate(terminal: Terminal, { file, tree }: Manifest, earlier: Manifest): void {
  const first = positionOf(earlier.file, locate(earlier.tree, ['name']).start)
  const place = `${earlier.file.name}:${first.line}:${first.column}`
  printAt(terminal, file, locate(tree, ['name']), secretSpans(tree), `the same deployment as in ${place}`)
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
  const { colored } = errArea(terminal)
  const { line, column } = positionOf(file, span.start)
  const place = `${file.name}:${line}:${column}:`
  report(terminal, `${paint(place, 'bold', colored)} ${paint(problem, 'red', colored)}`)
  const [quoted = '', caret = ''] = quoteLine(file, span, hidden)
  report(terminal, `  ${quoted}`)
  report(terminal, `  ${paint(caret, 'red', colored)}`)
}
