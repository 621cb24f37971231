// Every key with its versions since the last compaction. Existing and deleted keys are stored separately, so that a read
// at the newest revision does not visit deleted keys.

import type { KeyRange, KeyValue, WatchEvent } from '@holdfast/server/ports/key-value'
import { orderOf, orderRangeOf } from './key-order.ts'
import { createSortedKeys, type Ordered, type SortedKeys } from './sorted-keys.ts'

/** The versions of one key in order of revision; empty only before the first put of the key. */
interface KeyHistory extends Ordered {
  readonly key: string
  readonly versions: WatchEvent[]
}

export interface Histories {
  list(range: KeyRange, limit?: number): readonly KeyValue[]
  count(range: KeyRange): number
  /** Returns the keys of the range at the end of a revision, which must not be older than the last compaction. */
  listAt(range: KeyRange, revision: number): readonly KeyValue[]
  put(key: string, value: Uint8Array, revision: number): WatchEvent
  /** Deletes a key, which must exist. */
  delete(key: string, revision: number): WatchEvent
  /** Drops a key's versions that no read can reach. Returns a function that is true for the old event to keep. */
  compact(key: string, revision: number): (event: WatchEvent) => boolean
  /** Bytes of the keys and values of all versions. */
  readonly bytes: number
}

const NO_VALUE = new Uint8Array(0)

interface State {
  readonly all: Map<string, KeyHistory>
  readonly present: SortedKeys<KeyHistory>
  readonly gone: SortedKeys<KeyHistory>
  bytes: number
}

export function createHistories(): Histories {
  const state: State = { all: new Map(), present: createSortedKeys(), gone: createSortedKeys(), bytes: 0 }
  return {
    get bytes() {
      return state.bytes
    },
    ...reads(state),
    put: (key, value, revision) => put(state, key, value, revision),
    delete: (key, revision) => remove(state, key, revision),
    compact: (key, revision) => compact(state, key, revision),
  }
}

function reads({ all, present, gone }: State): Pick<Histories, 'list' | 'count' | 'listAt'> {
  return {
    list({ key, rangeEnd }, limit) {
      if (rangeEnd === undefined) return listOf(newestOf(all.get(key)))
      return present.list(orderRangeOf(key, rangeEnd), limit).flatMap((one) => newestOf(one) ?? [])
    },
    count({ key, rangeEnd }) {
      if (rangeEnd === undefined) return newestOf(all.get(key)) === undefined ? 0 : 1
      return present.count(orderRangeOf(key, rangeEnd))
    },
    listAt({ key, rangeEnd }, revision) {
      if (rangeEnd === undefined) return listOf(versionAt(all.get(key), revision))
      const range = orderRangeOf(key, rangeEnd)
      const both = mergeByOrder(present.list(range), gone.list(range))
      return both.flatMap((one) => versionAt(one, revision) ?? [])
    },
  }
}

function put(state: State, key: string, value: Uint8Array, revision: number): WatchEvent {
  const history = historyOf(state, key)
  const before = newestOf(history)
  if (before === undefined) {
    if (history.versions.length > 0) state.gone.remove(history)
    state.present.insert(history)
  }
  const createRevision = before?.createRevision ?? revision
  const version = (before?.version ?? 0) + 1
  // The value is copied, because the caller may reuse its buffer.
  const kv = { key, value: Buffer.from(value), createRevision, modRevision: revision, version }
  return append(state, history, { kind: 'put', kv })
}

function remove(state: State, key: string, revision: number): WatchEvent {
  const history = historyOf(state, key)
  state.present.remove(history)
  state.gone.insert(history)
  const kv = { key, value: NO_VALUE, createRevision: 0, modRevision: revision, version: 0 }
  return append(state, history, { kind: 'delete', kv })
}

function historyOf({ all }: State, key: string): KeyHistory {
  const known = all.get(key)
  if (known !== undefined) return known
  const fresh: KeyHistory = { key, order: orderOf(key), versions: [] }
  all.set(key, fresh)
  return fresh
}

function append(state: State, history: KeyHistory, event: WatchEvent): WatchEvent {
  history.versions.push(event)
  state.bytes += sizeOf(event)
  return event
}

function compact(state: State, key: string, revision: number): (event: WatchEvent) => boolean {
  const history = state.all.get(key)
  if (history === undefined) return () => false
  for (const event of history.versions.splice(0, firstToKeep(history.versions, revision)))
    state.bytes -= sizeOf(event)
  const [oldest] = history.versions
  if (oldest === undefined) {
    state.all.delete(key)
    state.gone.remove(history)
  }
  return (event) => event === oldest
}

const listOf = (kv: KeyValue | undefined): readonly KeyValue[] => (kv === undefined ? [] : [kv])
const sizeOf = ({ kv }: WatchEvent): number => kv.key.length + kv.value.length

function newestOf(history: KeyHistory | undefined): KeyValue | undefined {
  const newest = history?.versions.at(-1)
  return newest?.kind === 'put' ? newest.kv : undefined
}

function versionAt(history: KeyHistory | undefined, revision: number): KeyValue | undefined {
  if (history === undefined) return undefined
  const event = history.versions[countUpTo(history.versions, revision) - 1]
  return event?.kind === 'put' ? event.kv : undefined
}

function countUpTo(versions: readonly WatchEvent[], revision: number): number {
  let low = 0
  let high = versions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const event = versions[middle]
    if (event !== undefined && event.kv.modRevision <= revision) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first version to keep: the newest up to the compacted revision. An earlier deletion is not kept. */
function firstToKeep(versions: readonly WatchEvent[], revision: number): number {
  const newest = countUpTo(versions, revision) - 1
  const event = versions[newest]
  if (event === undefined) return 0
  return event.kind === 'delete' && event.kv.modRevision < revision ? newest + 1 : newest
}

function mergeByOrder(left: readonly KeyHistory[], right: readonly KeyHistory[]): readonly KeyHistory[] {
  if (right.length === 0) return left
  const merged: KeyHistory[] = []
  let taken = 0
  for (const one of left) {
    for (let other = right[taken]; other !== undefined && other.order < one.order; other = right[taken]) {
      merged.push(other)
      taken += 1
    }
    merged.push(one)
  }
  return merged.concat(right.slice(taken))
}
