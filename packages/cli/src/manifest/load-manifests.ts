// Loads all documents of the -f option in file order, or prints the errors of the files.

import { isJsonObject, type Json } from '@holdfast/contract'
import { checkManifest, checkSent, kindOf, type Manifest, parseSource } from '@holdfast/manifest'
import type { Invocation } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'
import { readSources } from './read-sources.ts'
import { printForeign, printRejections, printSyntaxFault } from './show-faults.ts'

export type Loaded =
  | { readonly ok: true; readonly manifests: readonly Manifest[] }
  | { readonly ok: false; readonly exitCode: ExitCode }

export async function loadManifests({ terminal, texts }: Invocation): Promise<Loaded> {
  const read = await readSources(texts('filename'), terminal)
  if (!read.ok) {
    printError(terminal, read.why)
    return { ok: false, exitCode: texts('filename').length === 0 ? EXIT.usage : EXIT.error }
  }
  const parsed = read.sources.map(parseSource)
  const faults = parsed.flatMap((each) => each.faults)
  for (const fault of faults) printSyntaxFault(terminal, fault)
  if (faults.length > 0) return { ok: false, exitCode: EXIT.rejected }
  const manifests = parsed.flatMap((each) => each.manifests)
  if (manifests.some(isUnsendable)) {
    for (const manifest of manifests) {
      printForeign(terminal, manifest)
      printRejections(terminal, manifest, checkManifest(manifest, checkSent))
    }
    return { ok: false, exitCode: EXIT.rejected }
  }
  if (manifests.length > 0) return { ok: true, manifests }
  printError(terminal, `${read.sources.map(({ name }) => name).join(', ')}: no document found`)
  return { ok: false, exitCode: EXIT.error }
}

/** Whether the platform cannot judge a document: it is of another system, or a quantity of it has no amount. */
const isUnsendable = ({ foreign, faults }: Manifest): boolean => foreign !== undefined || faults.length > 0

/** The name of a document; undefined without a usable name, in which case the platform rejects the document. */
export function nameOf(value: Json): string | undefined {
  return isJsonObject(value) && typeof value.name === 'string' ? value.name : undefined
}

/** A document as outputs name it: `deployment/web` or `volume/data`. */
export const subjectOf = (value: Json): string => `${kindOf(value).toLowerCase()}/${nameOf(value)}`
