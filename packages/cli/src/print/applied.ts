// What came of a document: one line of data, and what was altered, noticed or kept beside it.

import type { Failure } from '@holdfast/client'
import type { ExitCode } from '../exit-codes.ts'
import type { Manifest } from '../manifest/parse-source.ts'
import { tellRejections } from '../manifest/show-faults.ts'
import { type Applied, type Before, keptFields } from '../manifest/write-document.ts'
import { print, type Terminal, tell } from '../terminal.ts'
import { tellAnnounced } from './changes.ts'
import { exitCodeOf, tellFailure } from './failure.ts'

export function tellApplied(
  terminal: Terminal,
  manifest: Manifest,
  { verb, written, before }: Applied & { readonly ok: true },
): void {
  print(terminal, `deployment/${written.deployment.name} ${verb}`)
  tellAnnounced(terminal, written)
  tellKept(terminal, manifest, before)
}

export function tellKept(terminal: Terminal, { value }: Manifest, before: Before): void {
  for (const field of keptFields(value, before))
    tell(
      terminal,
      `  kept: ${field} stays as it is stored, the manifest does not name it (${field}: null clears it)`,
    )
}

/** Of the body: where it stands in the file. Of anything else: as it is. */
export function tellRefused(terminal: Terminal, manifest: Manifest, failure: Failure): ExitCode {
  if (failure.kind !== 'rejected' || !isOfBody(failure.status)) return tellFailure(terminal, failure)
  tellRejections(terminal, manifest, failure.rejections)
  return exitCodeOf(failure)
}

const ABOUT_THE_REQUEST = new Set([401, 403, 404, 405, 412, 413, 429, 503])
const isOfBody = (status: number): boolean => !ABOUT_THE_REQUEST.has(status)
