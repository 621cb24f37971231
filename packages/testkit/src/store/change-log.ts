// Records the notifications that a listener of a store received, and the state of the store at each notification.

import type { TenantId } from '@holdfast/contract'
import type { ParsedKey } from '@holdfast/server/store/keys'
import { deployments } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'

export interface ChangeLog {
  /** Number of change notifications by key. */
  readonly puts: ReadonlyMap<string, number>
  readonly deletes: ReadonlyMap<string, number>
  /** The mod revision of each deployment at its last change notification; 0 if it was deleted. */
  readonly states: ReadonlyMap<string, number>
  /** Deployments that had two change notifications for the same state. */
  readonly repeated: readonly string[]
  events(): number
}

/**
 * Records the change notifications of a store. Call it before the first write: existing records count as already
 * notified.
 */
export function recordChanges(store: Store, tenant: TenantId): ChangeLog {
  const [puts, deletes] = [new Map<string, number>(), new Map<string, number>()]
  const states = new Map<string, number>()
  const repeated: string[] = []
  let events = 0
  const keyOf = ({ tenant: owner, folder, id }: ParsedKey) =>
    owner === undefined ? store.keyspace.globalKey(folder, id) : store.keyspace.tenantKey(owner, folder, id)
  store.subscribe((changes) => {
    const before = new Map<string, number | undefined>()
    for (const { kind, key } of changes) {
      const text = keyOf(key)
      const counted = kind === 'put' ? puts : deletes
      counted.set(text, (counted.get(text) ?? 0) + 1)
      events += 1
      if (key.folder !== deployments.folder) continue
      if (!before.has(text)) before.set(text, states.get(text))
      states.set(text, store.get(inTenant(tenant, deployments, key.id))?.modRevision ?? 0)
    }
    for (const [text, state] of before)
      if (state !== undefined && state === states.get(text)) repeated.push(text)
  })
  return { puts, deletes, states, repeated, events: () => events }
}
