// Checks that a revision fits into one transaction (docs/design/store.md#size-bounds). etcd accepts 1.5 MiB per request.
// The record, its archive entry and a stored response each contain the spec; JSON escapes can triple the length of a
// body. A transaction has at most 120 compares or writes; references, routes and new secret values need several each.

import type { DeploymentSpec, Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { SecretsOfWrite } from './judge-secrets.ts'
import type { SpecIdentity } from './store-deployment.ts'

const MAX_SPEC_BYTES = 400 * 1024

export function checkSpecSize({ bytes }: SpecIdentity): Rejection[] {
  return bytes <= MAX_SPEC_BYTES ? [] : [reject('body_too_large', 'body', undefined, { max: MAX_SPEC_BYTES })]
}

const MAX_OPERATIONS = 120
/**
 * Transaction operations that every revision needs. Compares: token, tenant, record, stored response, quota slot, first
 * intent. Writes: the last four of those, archive entry, event, audit entry.
 */
const ALWAYS = 7
/** Transaction operations per credential with new secret values: an event, a quota slot and the credential's record. */
const PER_MATERIAL = 3

interface Sized {
  readonly spec: Pick<DeploymentSpec, 'routes' | 'secrets' | 'volumes'>
  readonly before: Pick<DeploymentSpec, 'routes' | 'volumes'> | undefined
  readonly secrets: Pick<SecretsOfWrite, 'counts' | 'crowded'>
  /** Number of other deployments that the transaction compares because of dependsOn. */
  readonly dependencies: number
  /** Why the digest of the image is still unknown; an unknown digest adds an event to the transaction. */
  readonly unresolved: string | undefined
  /** Whether the write restores a backup, which it compares and reports in an event. */
  readonly restores: boolean
}

/**
 * Rejects a write with too many operations for one transaction, and a credential that has no room for another version.
 * Several lists, each within its own limit, may together need too many operations when a write replaces all of them.
 */
export function checkRoom({ spec, before, secrets, dependencies, unresolved, restores }: Sized): Rejection[] {
  const [routes, routesBefore] = [spec.routes?.length ?? 0, before?.routes?.length ?? 0]
  const { labels, dropped, changed, newVersions, first } = secrets.counts
  const [mounts, mountsBefore] = [spec.volumes?.length ?? 0, before?.volumes?.length ?? 0]
  // A mount needs its volume and the claim of its writer; a dropped one the claim only. One counter covers all readers.
  const [mountReads, mountWrites] = [2 * mounts + mountsBefore, mounts + mountsBefore]
  const ofBackup = restores ? 1 : 0
  const compares = ALWAYS + ofBackup + dependencies + routes + labels + dropped + first + mountReads
  const extraEvents = ofBackup + (unresolved === undefined ? 0 : 1)
  const writes =
    ALWAYS + extraEvents + routes + routesBefore + changed + dropped + newVersions + first + mountWrites
  const excess = Math.max(compares, writes) - MAX_OPERATIONS
  if (excess <= 0) return [...secrets.crowded]
  const max = Math.max(1, spec.secrets.length - Math.ceil(excess / PER_MATERIAL))
  return [reject('list_too_long', 'secrets', `${spec.secrets.length} entries`, { max }), ...secrets.crowded]
}
