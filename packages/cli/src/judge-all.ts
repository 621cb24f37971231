// Judges all documents of one `apply` before the first is written, so that one mistake leaves nothing half applied.

import type { Client, Failure } from '@holdfast/client'
import { type DryRunDocument, entryOf, MOST_DOCUMENTS, type Rejection, stepsOf } from '@holdfast/contract'
import { checkSent, type Manifest, withFaultsBesideKind } from '@holdfast/manifest'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { nameOf } from './manifest/load-manifests.ts'
import { printDuplicate, printRejections } from './manifest/show-faults.ts'
import { exitCodeOf, printError, printFailure } from './print/failure.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Checks documents without the platform: how many they are, and that no two are of the same deployment. Prints what is
 * wrong and returns EXIT.ok if nothing is.
 */
export function checkTogether(terminal: Terminal, manifests: readonly Manifest[]): ExitCode {
  if (manifests.length > MOST_DOCUMENTS) {
    printError(
      terminal,
      `${manifests.length} documents given; the platform judges at most ${MOST_DOCUMENTS} together, so split them`,
    )
    return EXIT.usage
  }
  const first = new Map<string, Manifest>()
  let exitCode: ExitCode = EXIT.ok
  for (const manifest of manifests) {
    const name = nameOf(manifest.value)
    const earlier = name === undefined ? undefined : first.get(name)
    if (name !== undefined && earlier === undefined) first.set(name, manifest)
    if (earlier === undefined) continue
    printDuplicate(terminal, manifest, earlier)
    exitCode = EXIT.rejected
  }
  if (exitCode !== EXIT.ok) printError(terminal, 'a deployment may be given once; nothing was stored')
  return exitCode
}

/**
 * Judges the documents together by the platform's dry run, prints every fault and returns the exit code. If the
 * platform does not answer, the faults that the offline rules find are printed instead.
 */
export async function judgeAll(
  terminal: Terminal,
  client: Client,
  manifests: readonly Manifest[],
): Promise<ExitCode> {
  const judged = await client.dryRuns.documents(manifests.map(({ value }) => value))
  const faults = judged.ok
    ? ownRejections(judged.value.items).map((each, at) =>
        withFaultsBesideKind(each, manifests[at]?.value ?? null),
      )
    : manifests.map(({ value }) => checkSent(value))
  const rejected = faults.filter((each) => each.length > 0)
  if (!judged.ok && (rejected.length === 0 || judged.failure.kind === 'interrupted'))
    return printFailure(terminal, judged.failure)
  if (rejected.length === 0) return EXIT.ok
  for (const [at, manifest] of manifests.entries()) printRejections(terminal, manifest, faults[at] ?? [])
  printError(terminal, notStored(rejected.length, manifests.length, rejected.flat().length))
  return exitCodeOf(failureOf(rejected[0] ?? []))
}

/**
 * The rejections of each document, without those that only follow from the rejection of another document: the dry run
 * does not find a deployment whose document was rejected.
 */
function ownRejections(items: readonly DryRunDocument[]): (readonly Rejection[])[] {
  const all = items.map(({ rejections = [] }) => rejections)
  const rejected = new Set(
    items.flatMap(({ name, rejections = [] }) => (rejections.length > 0 ? [name] : [])),
  )
  const own = all.map((rejections) =>
    rejections.filter(
      ({ code, field }) => !(code === 'dependency_not_found' && rejected.has(String(stepsOf(field)[1]))),
    ),
  )
  // Documents that only miss each other have no other fault to show.
  return own.some((rejections) => rejections.length > 0) ? own : all
}

/** A rejection with the status with which the platform would have answered the document alone. */
export const failureOf = (rejections: readonly Rejection[]): Failure => ({
  kind: 'rejected',
  status: rejections[0] === undefined ? 422 : entryOf(rejections[0].code).status,
  rejections,
})

const notStored = (rejected: number, all: number, faults: number): string =>
  `${rejected} of ${all} documents ${rejected === 1 ? 'was' : 'were'} rejected with ${faults === 1 ? '1 error' : `${faults} errors`}; nothing was stored`
