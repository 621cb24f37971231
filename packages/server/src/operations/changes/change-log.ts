// The changes of the tenants that are being followed, in memory. A reader that was disconnected continues from its last
// revision; if the changes since then are not all in memory, it must read everything again.
// See docs/adr/0096-change-stream.md.

import type { ChangedRecord, TenantId } from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { changedRecords } from './changed-record.ts'

export interface ChangeLog {
  /** Follows the changes of a tenant. Call `store.fresh` first, so that an unknown revision is not merely a new one. */
  follow(tenant: TenantId, options: FollowOptions): ChangeFollower
  close(): void
}

export interface FollowOptions {
  /** The revision up to which the reader knows all changes; undefined: it starts now. */
  readonly from: number | undefined
  /** Called at the first change after `take`. */
  onChange(): void
}

export interface TakenChanges {
  /** The revision up to which the reader then knows all changes. */
  readonly revision: number
  /** True if changes were missed, so that the reader must read everything again. `items` is then empty. */
  readonly resync: boolean
  readonly items: readonly ChangedRecord[]
}

export interface ChangeFollower {
  /** Whether `take` would return anything. */
  readonly pending: boolean
  readonly revision: number
  take(): TakenChanges
  close(): void
}

/** The most changes that are kept of a tenant, and that wait for one reader. */
export const KEPT_CHANGES = 1_000
/** How long the changes of a tenant are kept after its last reader has gone. */
const KEPT_MS = 120_000

interface Kept {
  readonly revision: number
  readonly record: ChangedRecord
}

/** The changes, tokens and readers of a followed tenant. */
interface Followed {
  readonly kept: Kept[]
  /** All changes after this revision are in `kept`. */
  since: number
  readonly tokens: Set<string>
  readonly followers: Set<(records: readonly ChangedRecord[]) => void>
  expiry?: NodeJS.Timeout | undefined
}

type LogStore = Pick<Store, 'get' | 'list' | 'subscribe' | 'revision'>

export function createChangeLog(store: LogStore, keptMs = KEPT_MS): ChangeLog {
  const followed = new Map<TenantId, Followed>()
  const unsubscribe = store.subscribe((changes) => {
    for (const [tenant, each] of followed) record(store, tenant, each, changes)
  })
  const followedOf = (tenant: TenantId): Followed => {
    const known = followed.get(tenant) ?? startFollowing(store, tenant)
    clearTimeout(known.expiry)
    followed.set(tenant, known)
    return known
  }
  return {
    follow(tenant, { from, onChange }) {
      const known = followedOf(tenant)
      const follower = createFollower(store, known, from, onChange)
      return {
        get pending() {
          return follower.pending
        },
        get revision() {
          return store.revision
        },
        take: follower.take,
        close() {
          known.followers.delete(follower.add)
          if (known.followers.size > 0) return
          clearTimeout(known.expiry)
          known.expiry = setTimeout(() => followed.delete(tenant), keptMs).unref()
        },
      }
    },
    close() {
      unsubscribe()
      for (const { expiry } of followed.values()) clearTimeout(expiry)
    },
  }
}

/** A removed token does not name its tenant, so the tokens of a followed tenant are remembered. */
function startFollowing(store: LogStore, tenant: TenantId): Followed {
  const own = store.list(tokens).filter(({ record }) => record.tenant === tenant)
  return {
    kept: [],
    since: store.revision,
    tokens: new Set(own.map(({ record }) => record.id)),
    followers: new Set(),
  }
}

function record(store: LogStore, tenant: TenantId, followed: Followed, changes: readonly Change[]): void {
  for (const { kind, key } of changes)
    if (kind === 'put' && key.folder === tokens.folder && key.tenant === undefined)
      if (store.get(globally(tokens, key.id))?.record.tenant === tenant) followed.tokens.add(key.id)
  const records = changes.flatMap((change) => changedRecords(store, tenant, change, followed.tokens))
  for (const { kind, key } of changes)
    if (kind === 'delete' && key.folder === tokens.folder) followed.tokens.delete(key.id)
  if (records.length === 0) return
  const { revision } = store
  for (const each of records) followed.kept.push({ revision, record: each })
  const dropped = followed.kept.splice(0, Math.max(0, followed.kept.length - KEPT_CHANGES))
  followed.since = dropped.at(-1)?.revision ?? followed.since
  for (const add of followed.followers) add(records)
}

function createFollower(store: LogStore, followed: Followed, from: number | undefined, onChange: () => void) {
  const pending = new Map<string, ChangedRecord>()
  let resync = false
  const add = (records: readonly ChangedRecord[]): void => {
    const first = pending.size === 0 && !resync
    for (const each of records) pending.set(`${each.resource}/${each.uid}/${each.name}`, each)
    if (pending.size > KEPT_CHANGES) {
      resync = true
      pending.clear()
    }
    if (first) onChange()
  }
  followed.followers.add(add)
  if (from !== undefined && (from < followed.since || from > store.revision)) resync = true
  else if (from !== undefined)
    for (const { revision, record: each } of followed.kept)
      if (revision > from) pending.set(`${each.resource}/${each.uid}/${each.name}`, each)
  return {
    add,
    get pending() {
      return resync || pending.size > 0
    },
    take(): TakenChanges {
      const taken = { revision: store.revision, resync, items: resync ? [] : [...pending.values()] }
      pending.clear()
      resync = false
      return taken
    },
  }
}
