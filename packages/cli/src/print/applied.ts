// Prints the outcome of applying a document: one result line, then alterations, warnings and kept fields.

import type { Failure } from '@holdfast/client'
import type { ExitCode } from '../exit-codes.ts'
import { nameOf } from '../manifest/load-manifests.ts'
import type { Manifest } from '../manifest/parse-source.ts'
import { printRejections } from '../manifest/show-faults.ts'
import { type Applied, type Before, keptFields } from '../manifest/write-document.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { errArea, outArea } from './area.ts'
import { printAnnounced } from './changes.ts'
import { paint, paintState } from './color.ts'
import { exitCodeOf, printError, printFailure } from './failure.ts'
import { hang } from './table.ts'

export function printApplied(
  terminal: Terminal,
  manifest: Manifest,
  { verb, written, before }: Applied & { readonly ok: true },
): void {
  print(terminal, `deployment/${written.deployment.name} ${paintState(verb, outArea(terminal).colored)}`)
  printAnnounced(terminal, written)
  printKept(terminal, manifest, before)
}

export function printKept(terminal: Terminal, { value }: Manifest, before: Before): void {
  const { columns, colored } = errArea(terminal)
  for (const field of keptFields(value, before)) {
    const why = `${field} keeps its stored value, because the manifest does not mention it (${field}: null clears it)`
    for (const line of hang(`  ${paint('kept:', 'blue', colored)} `, why, columns)) report(terminal, line)
  }
}

/** Prints rejections of the manifest's content at their position in the file, and all other failures as plain errors. */
export function printRefused(terminal: Terminal, manifest: Manifest, failure: Failure): ExitCode {
  if (failure.kind !== 'rejected' || !concernsBody(failure.status)) return printFailure(terminal, failure)
  printRejections(terminal, manifest, failure.rejections)
  printError(terminal, notStored(manifest, failure.rejections.length))
  return exitCodeOf(failure)
}

const notStored = ({ file, value }: Manifest, faults: number): string =>
  `${file.name}: ${nameOf(value) ?? 'a document'} was rejected with ${faults === 1 ? '1 error' : `${faults} errors`}; nothing was stored`

const ABOUT_THE_REQUEST = new Set([401, 403, 404, 405, 412, 413, 429, 503])
const concernsBody = (status: number): boolean => !ABOUT_THE_REQUEST.has(status)
