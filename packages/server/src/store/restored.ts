// The error of a server whose etcd was restored from a backup, or replaced by another one
// (docs/design/restored-stores.md#servers).

const NEXT_COMMAND =
  'If etcd was restored from a backup, run `holdfast-server restored` once, then start the servers. Containers keep running.'

/** The store is not the one that this server has known. The server must end, with exit code 79. */
export class RestoredStoreError extends Error {
  override readonly name = 'RestoredStoreError'

  /** `what` is what happened, as a clause without a full stop. */
  constructor(what: string, next = NEXT_COMMAND) {
    super(`${what}. ${next}`)
  }
}

export type OnRestored = (error: RestoredStoreError) => void
