// Which nodes trust a root, as their agents stated: before the listener changes to another root, every node must trust it.
// See docs/design/certificates.md#the-next-authority

import { nodes, type StoredNode, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/**
 * The fingerprints that the node's agent stated in its last session. Undefined: it stated none, or an older server has opened
 * a session since, which keeps the member and does not update it.
 */
export function statedAuthorities({
  authorities,
  generation,
  session,
}: Pick<StoredNode, 'authorities' | 'generation' | 'session'>): readonly string[] | undefined {
  const isCurrent = authorities?.generation === generation && authorities.epoch === session.epoch
  return isCurrent ? authorities.pins : undefined
}

export interface Confirmations {
  readonly nodes: number
  /** Names of the nodes that do not trust the root, as far as known. */
  readonly unconfirmed: readonly string[]
}

/** Counts the nodes of all tenants. A node that cannot be read counts as unconfirmed. */
export function countConfirmations(store: Pick<Store, 'list' | 'keysOf'>, pin: string): Confirmations {
  let count = 0
  const unconfirmed: string[] = []
  for (const { record: tenant } of store.list(tenants)) {
    const readable = store.list(nodes, tenant.id)
    const keys = store.keysOf(nodes, tenant.id).length
    count += keys
    for (let unread = readable.length; unread < keys; unread += 1) unconfirmed.push('(unreadable)')
    for (const { record } of readable)
      if (statedAuthorities(record)?.includes(pin) !== true) unconfirmed.push(record.name)
  }
  return { nodes: count, unconfirmed }
}

/** At most this many names are listed. */
const NAMES = 10

/** `3 of 12 nodes: acme-1, acme-2, acme-3`. */
export function describeUnconfirmed({ nodes: count, unconfirmed }: Confirmations): string {
  const names = unconfirmed.slice(0, NAMES).join(', ')
  const more = unconfirmed.length > NAMES ? ` and ${unconfirmed.length - NAMES} more` : ''
  return `${unconfirmed.length} of ${count} ${count === 1 ? 'node' : 'nodes'}: ${names}${more}`
}

/** How many nodes have not confirmed each announced root, by its fingerprint. */
export const countUnconfirmed = (
  store: Pick<Store, 'list' | 'keysOf'>,
  announced: readonly { readonly pin: string }[],
): ReadonlyMap<string, number> =>
  new Map(announced.map(({ pin }) => [pin, countConfirmations(store, pin).unconfirmed.length]))
