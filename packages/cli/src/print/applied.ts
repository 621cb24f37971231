// Prints the outcome of applying documents: a line or JSON per document, what the platform changed, and the counts.

import type { Failure } from '@holdfast/client'
import { type DeploymentRecord, deploymentSpecShape } from '@holdfast/contract'
import { type Manifest, volumeBody, writtenField } from '@holdfast/manifest'
import type { ExitCode } from '../exit-codes.ts'
import type { AcceptedJob } from '../jobs/apply-job.ts'
import { nameOf } from '../manifest/load-manifests.ts'
import { printRejections } from '../manifest/show-faults.ts'
import { type Applied, type Before, keptFields } from '../manifest/write-document.ts'
import type { AcceptedNetwork } from '../networks/apply-network.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import type { AppliedVolume } from '../volumes/apply-volume.ts'
import type { Prepared } from '../volumes/prepared.ts'
import { printKeptVolume } from '../volumes/print-volume.ts'
import { outArea } from './area.ts'
import { printAnnounced, printLabeled } from './changes.ts'
import { paintState } from './color.ts'
import { count } from './count.ts'
import { differencesOf } from './difference.ts'
import { exitCodeOf, printError, printFailure } from './failure.ts'

export type Accepted = Applied & { readonly ok: true }

/** `name` prints `deployment/web` only; `json` is printed after the last document; `quiet` prints warnings only. */
export type AppliedForm = 'text' | 'name' | 'json' | 'quiet'

export function printApplied(
  terminal: Terminal,
  manifest: Manifest,
  { verb, written, before }: Accepted,
  { form, verbose }: { readonly form: AppliedForm; readonly verbose: boolean },
): void {
  const subject = `deployment/${written.deployment.name}`
  if (form === 'name') print(terminal, subject)
  if (form === 'text') {
    print(terminal, `${subject} ${paintState(verb, outArea(terminal).colored)}`)
    printChanged(terminal, before, written.deployment)
  }
  const { alterations, warnings } = written
  // The defaults of an unchanged deployment were reported when it was stored.
  const shown = form === 'text' && (verbose || verb !== 'unchanged') ? alterations : []
  const { secrets = [] } = written.deployment
  if (form !== 'json') printAnnounced(terminal, { alterations: shown, warnings }, { verbose, secrets })
  if (form === 'text') printKept(terminal, manifest, before)
}

/** Names the changed fields; `diff` shows their values. */
function printChanged(terminal: Terminal, before: Before, after: DeploymentRecord): void {
  if (before === undefined) return
  const fields = differencesOf({ ...before }, { ...after }).map(({ field }) => field)
  const changed = fields.filter((field) => Object.hasOwn(deploymentSpecShape.fields, field))
  if (changed.length > 0) printLabeled(terminal, 'changed', 'blue', changed.join(', '))
}

/** An applied volume. */
export type AcceptedVolume = AppliedVolume & { readonly ok: true }

export function printAppliedVolume(
  terminal: Terminal,
  { manifest, before, plan }: Prepared,
  { verb, volume, alterations, warnings }: AcceptedVolume,
  { form, verbose }: { readonly form: AppliedForm; readonly verbose: boolean },
): void {
  const subject = `volume/${volume.name}`
  if (form === 'name') print(terminal, subject)
  if (form === 'text') print(terminal, `${subject} ${paintState(verb, outArea(terminal).colored)}`)
  const changed = plan?.changes.map(({ field }) => writtenField(manifest, field)) ?? []
  if (form === 'text' && changed.length > 0) printLabeled(terminal, 'changed', 'blue', changed.join(', '))
  const shown = form === 'text' ? alterations : []
  if (form !== 'json') printAnnounced(terminal, { alterations: shown, warnings }, { verbose })
  if (form === 'text') printKeptVolume(terminal, volumeBody(manifest.value), before)
}

export function printAppliedNetwork(
  terminal: Terminal,
  { verb, network, alterations, warnings }: AcceptedNetwork,
  { form, verbose }: { readonly form: AppliedForm; readonly verbose: boolean },
): void {
  const subject = `network/${network.name}`
  if (form === 'name') print(terminal, subject)
  if (form === 'text') print(terminal, `${subject} ${paintState(verb, outArea(terminal).colored)}`)
  const shown = form === 'text' ? alterations : []
  if (form !== 'json') printAnnounced(terminal, { alterations: shown, warnings }, { verbose })
}

export function printAppliedJob(
  terminal: Terminal,
  { verb, job, alterations, warnings }: AcceptedJob,
  { form, verbose }: { readonly form: AppliedForm; readonly verbose: boolean },
): void {
  const subject = `job/${job.id}`
  if (form === 'name') print(terminal, subject)
  if (form === 'text')
    print(terminal, `${subject} (${job.name}) ${paintState(verb, outArea(terminal).colored)}`)
  const shown = form === 'text' ? alterations : []
  const { secrets } = job
  if (form !== 'json') printAnnounced(terminal, { alterations: shown, warnings }, { verbose, secrets })
}

export type AnyAccepted = Accepted | AcceptedVolume | AcceptedNetwork | AcceptedJob

export const printAppliedJson = (terminal: Terminal, applied: readonly AnyAccepted[]): void =>
  print(terminal, JSON.stringify({ items: applied.map(appliedItem) }, null, 2))

function appliedItem(applied: AnyAccepted): object {
  if ('written' in applied) return { result: applied.verb, ...applied.written }
  const { ok: _ok, verb, ...item } = applied
  return { result: verb, ...item }
}

/** Prints how many documents had which result: `1 created, 2 unchanged`. */
export function printCounts(terminal: Terminal, results: readonly string[]): void {
  const counts = Map.groupBy(results, (result) => result)
  report(terminal, [...counts].map(([result, all]) => `${all.length} ${result}`).join(', '))
}

export function printKept(terminal: Terminal, { value }: Manifest, before: Before): void {
  for (const field of keptFields(value, before))
    printLabeled(
      terminal,
      'kept',
      'blue',
      `${field} keeps its stored value, because the manifest does not mention it (${field}: null clears it)`,
    )
}

/** Prints rejections of the manifest's content at their position in the file, and all other failures as plain errors. */
export function printRefused(terminal: Terminal, manifest: Manifest, failure: Failure): ExitCode {
  if (failure.kind !== 'rejected' || !isAboutDocument(failure)) return printFailure(terminal, failure)
  printRejections(terminal, manifest, failure.rejections)
  printError(terminal, notStored(manifest, failure.rejections.length))
  return exitCodeOf(failure)
}

const notStored = ({ file, value }: Manifest, faults: number): string =>
  `${file.name}: ${nameOf(value) ?? 'a document'} was rejected with ${count(faults, 'error')}; nothing was stored`

const ABOUT_THE_REQUEST = new Set([401, 403, 404, 405, 412, 413, 429, 503])

/** Whether a rejection is about the content of the document, and not about the token, the path or the moment. */
export const isAboutDocument = ({ status }: { readonly status: number }): boolean =>
  !ABOUT_THE_REQUEST.has(status)
