// Judges all documents of one `apply` before the first is written, so that one mistake leaves nothing half applied.

import type { Client, Failure, Result } from '@holdfast/client'
import { type DryRunDocument, entryOf, MOST_DOCUMENTS, type Rejection, stepsOf } from '@holdfast/contract'
import {
  checkManifest,
  checkSent,
  jobBody,
  kindOf,
  type Manifest,
  withFaultsBesideKind,
} from '@holdfast/manifest'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { nameOf } from './manifest/load-manifests.ts'
import { printDuplicate, printRejections } from './manifest/show-faults.ts'
import { isAboutDocument, printRefused } from './print/applied.ts'
import { count } from './print/count.ts'
import { exitCodeOf, printError, printFailure } from './print/failure.ts'
import type { Terminal } from './terminal/terminal.ts'
import type { Prepared } from './volumes/prepared.ts'

/**
 * Checks documents without the platform: how many they are, and that no two are of the same deployment, volume or network.
 * Two jobs may have the same name. Prints what is wrong and returns EXIT.ok if nothing is.
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
    const subject = `${kindOf(manifest.value)}/${name}`
    if (kindOf(manifest.value) === 'Job') continue
    const earlier = name === undefined ? undefined : first.get(subject)
    if (name !== undefined && earlier === undefined) first.set(subject, manifest)
    if (earlier === undefined) continue
    printDuplicate(terminal, manifest, earlier)
    exitCode = EXIT.rejected
  }
  if (exitCode !== EXIT.ok)
    printError(terminal, 'a deployment, volume or network may be given once; nothing was stored')
  return exitCode
}

/**
 * Judges the documents together by the platform's dry runs, prints every fault and returns the exit code. If the
 * platform does not answer, the faults that the offline rules find are printed instead.
 */
export async function judgeAll(
  terminal: Terminal,
  client: Client,
  documents: readonly Prepared[],
): Promise<ExitCode> {
  const judged = await judgeDocuments(client, documents)
  const faults = judged.ok
    ? judged.value
    : documents.map(({ manifest }) => checkManifest(manifest, checkSent))
  const rejected = faults.filter((each) => each.length > 0)
  if (!judged.ok && (rejected.length === 0 || judged.failure.kind === 'interrupted'))
    return printFailure(terminal, judged.failure)
  const [first, ...others] = documents
  if (first === undefined || rejected.length === 0) return EXIT.ok
  if (others.length === 0) return printRefused(terminal, first.manifest, failureOf(rejected[0] ?? []))
  for (const [at, { manifest }] of documents.entries()) printRejections(terminal, manifest, faults[at] ?? [])
  printError(terminal, notStored(rejected.length, documents.length, rejected.flat().length))
  return exitCodeOf(failureOf(rejected[0] ?? []))
}

/** The rejections of each document. A document with faults of its own is not sent, unless it is a deployment. */
async function judgeDocuments(
  client: Client,
  documents: readonly Prepared[],
): Promise<Result<(readonly Rejection[])[]>> {
  const together = documents.filter(isJudgedTogether)
  const planned = await dryRunTogether(client, together)
  if (!planned.ok) return planned
  const own = ownRejections(planned.value)
  const faults: (readonly Rejection[])[] = []
  for (const document of documents) {
    const { manifest, kind, faults: found } = document
    const rejections = own[together.indexOf(document)]
    const judged: Result<readonly Rejection[]> =
      rejections === undefined ? await judgeOther(client, document) : { ok: true, value: rejections }
    if (!judged.ok) return judged
    const shown = kind === 'Deployment' ? withFaultsBesideKind(judged.value, manifest.value) : judged.value
    faults.push([...found, ...shown])
  }
  return { ok: true, value: faults }
}

/** Whether the platform judges a document together with the others. */
export const isJudgedTogether = ({ kind, faults }: Pick<Prepared, 'kind' | 'faults'>): boolean =>
  kind === 'Deployment' || (kind === 'Job' && faults.length === 0)

/** The platform's dry run of deployments and jobs, each as if those that it needs were stored and ready. */
export async function dryRunTogether(
  client: Client,
  documents: readonly Prepared[],
): Promise<Result<readonly DryRunDocument[]>> {
  if (documents.length === 0) return { ok: true, value: [] }
  const sent = documents.map(({ kind, judged }) => (kind === 'Job' ? jobBody(judged) : judged))
  const judged = await client.dryRuns.documents(sent)
  return judged.ok ? { ok: true, value: judged.value.items } : judged
}

/** Judges a volume or a network by the dry run of its own request. */
async function judgeOther(client: Client, document: Prepared): Promise<Result<readonly Rejection[]>> {
  if (document.faults.length > 0) return { ok: true, value: [] }
  const planned = await planOther(client, document)
  if (planned.ok) return { ok: true, value: [] }
  const { failure } = planned
  return failure.kind === 'rejected' && isAboutDocument(failure)
    ? { ok: true, value: failure.rejections }
    : planned
}

async function planOther(client: Client, document: Prepared): Promise<Result<unknown>> {
  return document.kind === 'Network'
    ? (await import('./networks/apply-network.ts')).planNetworkOnPlatform(client, document)
    : (await import('./volumes/apply-volume.ts')).planOnPlatform(client, document)
}

/**
 * The rejections of each document, without those that only follow from the rejection of another document: the dry run
 * does not find a deployment whose document was rejected.
 */
function ownRejections(items: readonly DryRunDocument[]): (readonly Rejection[])[] {
  const all = items.map(({ rejections = [] }) => rejections)
  const rejected = new Set(
    items.flatMap(({ kind, name, rejections = [] }) =>
      rejections.length > 0 && kind !== 'Job' ? [name] : [],
    ),
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
  `${rejected} of ${all} documents ${rejected === 1 ? 'was' : 'were'} rejected with ${count(faults, 'error')}; nothing was stored`
