// Decides whether the server's store is the one that this node has known. After a restore from a backup the store lacks
// assignments that are still desired, so the node removes nothing until an operator has confirmed the store
// (docs/design/restored-stores.md#agents).

/** The memory that a node has of the store, across restarts of its agent. */
export interface SeenStore {
  /** The epoch that the node has accepted; absent while no server has shown one. */
  readonly epoch?: string | undefined
  /** The highest number of a session of this node. */
  readonly session: number
  /** The highest revision of a desired set. */
  readonly revision: number
  /** Why the node removes nothing; absent while it may. */
  readonly held?: string | undefined
}

/** The part of its store that the server of a session shows. */
export interface ShownStore {
  readonly session: number
  /** Whether the node sees this session for the first time: its number must then be higher than all before. */
  readonly isNewSession: boolean
  /** Absent before the first desired set of the session. */
  readonly revision?: number | undefined
  readonly epoch?: string | undefined
  /** True until an operator has confirmed that nodes may remove what a restored store lacks. */
  readonly isUnconfirmed?: boolean | undefined
}

/** The accepted epoch of a node that held before it accepted any. */
const NO_EPOCH = ''

/** Returns what the node remembers from now on. A hold ends only with another epoch that an operator has confirmed. */
export function judgeShownStore(seen: SeenStore | undefined, shown: ShownStore): SeenStore {
  const { epoch, session, revision = 0 } = shown
  if (seen === undefined) return { epoch, session, revision }
  const isOther = epoch !== undefined && seen.epoch !== undefined && epoch !== seen.epoch
  // The numbers of another store mean nothing in the confirmed one.
  if (isOther && shown.isUnconfirmed !== true) return { epoch, session, revision }
  const held = seen.held ?? faultOf(seen, shown)
  // Of the first epoch, one that is not confirmed yet is not accepted: its confirmation ends the hold.
  const first = shown.isUnconfirmed === true ? NO_EPOCH : epoch
  return { ...highest(seen, shown), epoch: seen.epoch ?? first, held }
}

const highest = (seen: SeenStore, { session, revision = 0 }: ShownStore): SeenStore => ({
  ...seen,
  session: Math.max(seen.session, session),
  revision: Math.max(seen.revision, revision),
})

function faultOf(seen: SeenStore, shown: ShownStore): string | undefined {
  const { epoch, session, revision } = shown
  if (epoch !== undefined && epoch !== seen.epoch && shown.isUnconfirmed === true)
    return `the store has epoch ${epoch}, and this node knew ${seen.epoch || 'none'}`
  if (session < seen.session || (shown.isNewSession && session === seen.session))
    return `the session has number ${session}, and this node had ${seen.session} before`
  if (revision !== undefined && revision < seen.revision)
    return `the store went back from revision ${seen.revision} to ${revision}`
  return undefined
}
