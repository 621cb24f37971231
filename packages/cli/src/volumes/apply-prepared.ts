// Applies one prepared document and prints the result. A deployment or job is sent when the volumes that
// it mounts are Ready.

import type { Client } from '@holdfast/client'
import { withVolumeIds } from '@holdfast/manifest'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { AwaitedVolume } from '../follow/wait-for-volumes.ts'
import { applyJob } from '../jobs/apply-job.ts'
import { applyDocument } from '../manifest/write-document.ts'
import { applyNetwork } from '../networks/apply-network.ts'
import {
  type AnyAccepted,
  type AppliedForm,
  printApplied,
  printAppliedJob,
  printAppliedNetwork,
  printAppliedVolume,
  printRefused,
} from '../print/applied.ts'
import { printError } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { applyVolume } from './apply-volume.ts'
import type { KnownVolumes } from './prepare.ts'
import type { Prepared } from './prepared.ts'

export interface ApplyOptions {
  readonly form: AppliedForm
  readonly verbose: boolean
  /** The longest wait for the volumes of a deployment. */
  readonly longestMs: number
}

export interface NotApplied {
  readonly exitCode: ExitCode
  /** False if the document was not sent, because a volume is not Ready. */
  readonly isRejected: boolean
}

export async function applyPrepared(
  terminal: Terminal,
  client: Client,
  document: Prepared,
  known: KnownVolumes,
  options: ApplyOptions,
): Promise<AnyAccepted | NotApplied> {
  const { manifest } = document
  if (document.kind === 'Network') {
    const applied = await applyNetwork(client, document)
    if (!applied.ok) return refused(printRefused(terminal, manifest, applied.failure))
    printAppliedNetwork(terminal, applied, options)
    return applied
  }
  if (document.kind === 'Volume') {
    const applied = await applyVolume(client, document)
    if (!applied.ok) return refused(printRefused(terminal, manifest, applied.failure))
    known.set(applied.volume.name, applied.volume)
    printAppliedVolume(terminal, document, applied, options)
    return applied
  }
  const waited = await waitForMounts(terminal, client, document, known, options.longestMs)
  if (waited !== EXIT.ok) return { exitCode: waited, isRejected: false }
  const sent = withVolumeIds(manifest.value, (name) => known.get(name)?.id)
  if (document.kind === 'Job') {
    const created = await applyJob(client, sent)
    if (!created.ok) return refused(printRefused(terminal, manifest, created.failure))
    printAppliedJob(terminal, created, options)
    return created
  }
  const applied = await applyDocument(client, sent)
  if (!applied.ok) return refused(printRefused(terminal, manifest, applied.failure))
  printApplied(terminal, manifest, applied, options)
  return applied
}

const refused = (exitCode: ExitCode): NotApplied => ({ exitCode, isRejected: true })

async function waitForMounts(
  terminal: Terminal,
  client: Client,
  { manifest, awaits }: Prepared,
  known: KnownVolumes,
  longestMs: number,
): Promise<ExitCode> {
  const volumes = [...known.values()]
  const awaited = awaits.flatMap((named): AwaitedVolume[] => {
    const found = volumes.find(({ id, name }) => id === named || name === named)
    return found === undefined || found.phase === 'Ready' ? [] : [found]
  })
  if (awaited.length === 0) return EXIT.ok
  const { waitForVolumes } = await import('../follow/wait-for-volumes.ts')
  // The lines of the wait are progress: stdout lists what was applied.
  const progress = { ...terminal, out: terminal.err, outIsTerminal: terminal.errIsTerminal }
  const exitCode = await waitForVolumes(progress, client, awaited, { longestMs, announce: false })
  if (exitCode === EXIT.notReady) {
    const names = awaited.map(({ name }) => name).join(', ')
    const subject = Object(manifest.value).name
    printError(
      terminal,
      `${subject} was not applied, because it mounts ${names}; run the command again when that is Ready`,
    )
  }
  return exitCode
}
