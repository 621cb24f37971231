// GET .../volumes/{id}/divergences/{epoch}: the data that a former primary keeps, as a tar archive that is forwarded from its
// node while the client reads. Reading is audited, and a tenant has few downloads at the same time.

import type { Readable } from 'node:stream'
import type { Divergence, StreamError, TenantId } from '@holdfast/contract'
import type { Clock } from '../../../ports/clock.ts'
import type { DivergenceCalls } from '../../../ports/divergence-calls.ts'
import type { StoredVolume } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type Caller, done, limited, type Outcome, type Refused, refused } from '../../caller.ts'
import { auditDivergence } from './audit-divergence.ts'
import { divergenceNotFound, findDivergence, nodeUnavailable } from './find-divergence.ts'
import { openArchive } from './kept-archive.ts'

export interface DownloadDeps {
  readonly store: Store
  readonly clock: Clock
  readonly divergences: DivergenceCalls
  readonly downloads: Downloads
  /** How long a download may stand still, in milliseconds. */
  readonly stallMs?: number
}

/** The open downloads of each tenant on this server replica. */
export interface Downloads {
  /** Returns an idempotent release function, or undefined if the tenant is at its limit. */
  reserve(tenant: TenantId): (() => void) | undefined
}

/** Downloads of one tenant at the same time on each server replica. */
export const DOWNLOADS_PER_TENANT = 2
const RETRY_SECONDS = 10
/** Short enough that a client that waits for the first bytes gets a rejection before its own deadline. */
const STALL_MS = 20_000

export async function downloadDivergence(
  deps: DownloadDeps,
  caller: Caller,
  path: { readonly id: string; readonly epoch: string },
  node: string | undefined,
): Promise<Outcome<Readable>> {
  await deps.store.fresh()
  const found = findDivergence(deps.store, caller.tenant, path, node)
  if (!found.ok) return found
  const { volume, kept } = found.value
  if (kept === undefined) return divergenceNotFound(path.epoch)
  const release = deps.downloads.reserve(caller.tenant)
  if (release === undefined) return limited('Authorization', RETRY_SECONDS)
  try {
    const opened = await openDownload(deps, caller, volume, kept)
    if (opened.ok) opened.value.once('close', release)
    else release()
    return opened
  } catch (error) {
    release()
    throw error
  }
}

async function openDownload(
  deps: DownloadDeps,
  caller: Caller,
  volume: StoredVolume,
  kept: Divergence,
): Promise<Outcome<Readable>> {
  const { divergences, stallMs = STALL_MS } = deps
  const { epoch, nodeId, nodeName } = kept
  const gone = await auditDivergence(deps, caller, 'volumes:download-divergence', volume, kept)
  if (gone !== undefined) return refused(gone)
  const request = { kind: 'divergence', divergence: { volume: volume.id, epoch } } as const
  const { stream, begun } = openArchive(
    (reader) => divergences.openStream(caller.tenant, nodeId, request, reader),
    stallMs,
  )
  const error = await begun
  if (error === undefined) return done(stream)
  stream.destroy()
  return refusalOf(error, kept, nodeName)
}

function refusalOf(error: StreamError, { epoch }: Divergence, nodeName: string): Refused {
  if (error === 'data_not_found') return divergenceNotFound(String(epoch))
  if (error === 'too_many_streams') return limited('Authorization', RETRY_SECONDS)
  return nodeUnavailable(nodeName)
}
