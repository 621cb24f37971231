// Decides whether the store that a server finds when it starts is the one that it knew when it last wrote a heartbeat. A
// store that was restored from a backup lacks what the server knows (docs/design/restored-stores.md#servers).

/** The memory that a server has of the store, outside the store. */
export interface KnownStore {
  readonly epoch: string
  readonly clusterId?: string | undefined
  /** A revision that the store had reached. */
  readonly revision: number
  /** The number of heartbeats that the server has written; undefined if it has written none. */
  readonly heartbeats?: number | undefined
}

/** The store as a linearizable read finds it. */
export interface FoundStore {
  readonly epoch: string
  /** The epochs that an operator has replaced by declaring a restore. */
  readonly previous: readonly string[]
  readonly clusterId?: string | undefined
  readonly revision: number
  readonly heartbeats?: number | undefined
}

type KnownStoreVerdict =
  | { readonly kind: 'same' }
  /** An operator has declared the store restored since; what the server remembers no longer holds. */
  | { readonly kind: 'declared' }
  /** `what` is a clause without a full stop. */
  | { readonly kind: 'restored'; readonly what: string }

/** The clauses are in the order of their strength: the first that holds is reported. */
export function judgeKnownStore(known: KnownStore, found: FoundStore): KnownStoreVerdict {
  if (found.epoch !== known.epoch)
    return found.previous.includes(known.epoch)
      ? { kind: 'declared' }
      : restored(`the store has epoch ${found.epoch}, and this server knew ${known.epoch}`)
  if (known.clusterId !== undefined && found.clusterId !== undefined && known.clusterId !== found.clusterId)
    return restored(`etcd is cluster ${found.clusterId}, and this server knew cluster ${known.clusterId}`)
  if (found.revision < known.revision)
    return restored(`etcd went back from revision ${known.revision} to ${found.revision}`)
  if ((known.heartbeats ?? 0) > (found.heartbeats ?? 0))
    return restored(
      `the store has lost heartbeats of this server: it wrote ${known.heartbeats}, and the store has ${found.heartbeats ?? 'none'}`,
    )
  return { kind: 'same' }
}

const restored = (what: string): KnownStoreVerdict => ({ kind: 'restored', what })
