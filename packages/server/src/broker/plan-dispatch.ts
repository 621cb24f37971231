// Decides which versions of which secrets a container gets: the version in its template, or else the initial version of
// the secret; during a rotation also the rotation's other version. See docs/design/secrets.md#rotation.

import { type ContainerTemplate, defined, type TemplateSecret } from '@holdfast/contract'
import { type ContainerVersions, containerVersions } from '../operations/secrets/rotation/proof.ts'
import type { StoredCredential } from '../store/records.ts'

export interface EntryPlan {
  readonly name: string
  readonly namespace: string
  readonly label: string
  readonly current: number
  readonly next?: number
  readonly previous?: number
  /** The time that the secrets store gave each version, by its number; a version without one is not compared. */
  readonly storedAt?: { readonly [version: number]: string }
  /** Revision of the record of the secret. When the revision changes, a failed read may be repeated. */
  readonly revision: number
}

export type DispatchPlan =
  | { readonly kind: 'ok'; readonly entries: readonly EntryPlan[]; readonly usedVersions: ContainerVersions }
  | { readonly kind: 'unresolved'; readonly secret: string; readonly cause: 'missing' | 'denied' }

export type FindCredential = (
  label: string,
) => { readonly record: StoredCredential; readonly modRevision: number } | undefined

export function planDispatch({ secrets = [] }: ContainerTemplate, find: FindCredential): DispatchPlan {
  const entries: EntryPlan[] = []
  for (const secret of secrets) {
    const found = find(secret.label)
    // Within a tenant a label belongs to one namespace, so a template that names another namespace gets no secret value.
    if (found !== undefined && found.record.namespace !== secret.namespace)
      return { kind: 'unresolved', secret: secret.name, cause: 'denied' }
    const current = secret.version ?? found?.record.initial ?? null
    if (current === null) return { kind: 'unresolved', secret: secret.name, cause: 'missing' }
    entries.push(planEntry(secret, current, found))
  }
  const usedVersions = containerVersions(secrets, (label) => find(label)?.record.initial)
  return { kind: 'ok', entries, usedVersions: usedVersions ?? new Map() }
}

function planEntry(
  { name, namespace, label }: TemplateSecret,
  current: number,
  found: ReturnType<FindCredential>,
): EntryPlan {
  const other = found === undefined ? {} : otherVersion(found.record, current)
  const times = (found?.record.versions ?? []).flatMap(({ version, storedAt }) =>
    storedAt === undefined ? [] : [[version, storedAt] as const],
  )
  const storedAt = times.length === 0 ? undefined : Object.fromEntries(times)
  const revision = found?.modRevision ?? 0
  return { name, namespace, label, current, ...other, ...defined({ storedAt }), revision }
}

/** Old containers also get the new version from the overlap phase on; new ones also get the old version in a cutover. */
function otherVersion(
  { rotation }: StoredCredential,
  current: number,
): { readonly next?: number; readonly previous?: number } {
  if (rotation === undefined || rotation.phase === 'stage') return {}
  // While a cutover is aborted, old containers still get the new version, because other containers still use it.
  if (current === rotation.old) return { next: rotation.new }
  const isNew = rotation.phase === 'cutover' && current === rotation.new
  return isNew ? { previous: rotation.old } : {}
}
