// Which versions of which documents a container is made with. DECISIONS 5: the version of the template, or the credential's
// first; while a rotation is on, the other version beside it.

import type { ContainerTemplate, TemplateSecret } from '@holdfast/contract'
import { type ContainerVersions, containerVersions } from '../operations/secrets/rotation/proof.ts'
import type { StoredCredential } from '../store/records.ts'

export interface EntryPlan {
  readonly name: string
  readonly namespace: string
  readonly label: string
  readonly current: number
  readonly next?: number
  readonly previous?: number
  /** Of the credential's record: when it changes, what was refused may be asked again. */
  readonly revision: number
}

export type DispatchPlan =
  | { readonly kind: 'ok'; readonly entries: readonly EntryPlan[]; readonly made: ContainerVersions }
  | { readonly kind: 'unresolved'; readonly secret: string; readonly cause: 'missing' | 'denied' }

export type FindCredential = (
  label: string,
) => { readonly record: StoredCredential; readonly modRevision: number } | undefined

export function planDispatch({ secrets = [] }: ContainerTemplate, find: FindCredential): DispatchPlan {
  const entries: EntryPlan[] = []
  for (const secret of secrets) {
    const found = find(secret.label)
    // A label is bound to one namespace; a template that says another was not written by us.
    if (found !== undefined && found.record.namespace !== secret.namespace)
      return { kind: 'unresolved', secret: secret.name, cause: 'denied' }
    const current = secret.version ?? found?.record.initial ?? null
    if (current === null) return { kind: 'unresolved', secret: secret.name, cause: 'missing' }
    entries.push(planEntry(secret, current, found))
  }
  const made = containerVersions(secrets, (label) => find(label)?.record.initial)
  return { kind: 'ok', entries, made: made ?? new Map() }
}

function planEntry(
  { name, namespace, label }: TemplateSecret,
  current: number,
  found: ReturnType<FindCredential>,
): EntryPlan {
  const beside = found === undefined ? {} : versionBeside(found.record, current)
  return { name, namespace, label, current, ...beside, revision: found?.modRevision ?? 0 }
}

/** Old containers learn the new value from the overlap on; new ones keep the old until it is retired. */
function versionBeside(
  { rotation }: StoredCredential,
  current: number,
): { readonly next?: number; readonly previous?: number } {
  if (rotation === undefined || rotation.phase === 'stage') return {}
  // Also while a cutover is taken back: until it is over some run with the new one, and the target has to take both.
  if (current === rotation.old) return { next: rotation.new }
  const isNew = rotation.phase === 'cutover' && current === rotation.new
  return isNew ? { previous: rotation.old } : {}
}
