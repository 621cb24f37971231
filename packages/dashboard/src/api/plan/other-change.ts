// The change of another person that a write would have overwritten: the record as it is now, and as the writer read it.

import type { Client, Failure } from '@holdfast/client'
import type { ArchiveEntry } from '@holdfast/contract'
import type { Change } from './change.ts'

export interface OtherChange {
  readonly now: ArchiveEntry
  /** The revision that the person read; absent if it is no longer kept. */
  readonly before?: ArchiveEntry
}

const PRECONDITION_FAILED = 412

export const isConflict = (failure: Failure): boolean =>
  failure.kind === 'rejected' && failure.status === PRECONDITION_FAILED

/**
 * Reads the newest revision and the one that the person read; undefined if they are not kept or
 * cannot be read.
 */
export async function readOtherChange(
  client: Client,
  { deployment, archived, stored }: Pick<Change, 'deployment' | 'archived' | 'stored'>,
  revision: number | undefined,
): Promise<OtherChange | undefined> {
  if (!archived) return undefined
  const current = await stored(client)
  if (!current.ok || current.value === undefined) return undefined
  const now = await client.deployments.archivedRevision(deployment, current.value)
  if (!now.ok) return undefined
  const before =
    revision === undefined ? undefined : await client.deployments.archivedRevision(deployment, revision)
  return { now: now.value, ...(before?.ok === true ? { before: before.value } : {}) }
}
