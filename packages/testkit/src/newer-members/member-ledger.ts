// Follows every write of records and checks that no change loses unknown members. The records get such members from
// add-members.ts, as if a newer server had changed each of them after every write.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { createKeyspace } from '@holdfast/server/store/keys'
import { archive, COLLECTIONS, type Collection, deployments } from '@holdfast/server/store/records'
import { addMembers, type Below } from './add-members.ts'
import { findLost } from './find-lost.ts'
import { RECORD_CHANGES } from './record-changes.ts'
import { knownText } from './shape-objects.ts'

const BY_FOLDER = new Map(COLLECTIONS.map((collection) => [collection.folder, collection]))

export interface Counts {
  /** Number of writes that got members. */
  marked: number
  /** Number of changes of records with unknown members that had to be kept. */
  changes: number
  /** Number of unknown members that had to be kept in those changes. */
  members: number
}

export interface Write {
  readonly key: string
  readonly revision: number
  /** The stored value; absent for a delete. */
  readonly value?: Uint8Array
}

export interface MemberLedger {
  readonly counts: ReadonlyMap<string, Counts>
  /** Changes that lost members, and changes of records that the table says are written once. */
  readonly faults: readonly string[]
  /** The value with more unknown members; the same value if the key is not one of a record or the record has enough. */
  add(key: string, value: Uint8Array): Uint8Array
  /** Checks a write of a server. Writes must be passed in the order of their revisions. */
  check(write: Write): void
  /** Notes a write that is not checked, because only members were added. */
  note(write: Write): void
}

interface State {
  readonly collectionOf: (key: string) => Collection<unknown> | undefined
  readonly records: Map<string, { readonly folder: string; readonly record: JsonObject }>
  readonly deleted: Map<string, { readonly revision: number; readonly record: JsonObject }>
  readonly counts: Map<string, Counts>
  readonly faults: string[]
}

export function createMemberLedger(below: Below, root?: string): MemberLedger {
  const keyspace = createKeyspace(root)
  const state: State = {
    collectionOf: (key) => BY_FOLDER.get(keyspace.parse(key)?.folder ?? ''),
    records: new Map(),
    deleted: new Map(),
    counts: new Map(COLLECTIONS.map(({ folder }) => [folder, { marked: 0, changes: 0, members: 0 }])),
    faults: [],
  }
  return {
    counts: state.counts,
    faults: state.faults,
    add: (key, value) => add(state, below, key, value),
    note: (write) => note(state, write),
    check(write) {
      const collection = state.collectionOf(write.key)
      const before = predecessorOf(state, write)
      const next = note(state, write)
      if (collection === undefined || before === undefined || next === undefined) return
      checkChange(state, collection, write.key, before, next)
    },
  }
}

function add(state: State, below: Below, key: string, value: Uint8Array): Uint8Array {
  const collection = state.collectionOf(key)
  const record = collection && recordIn(value)
  if (collection === undefined || record === undefined) return value
  if (addMembers(collection.shape, record, below) === 0) return value
  const count = state.counts.get(collection.folder)
  if (count !== undefined) count.marked += 1
  return Buffer.from(JSON.stringify(record))
}

function recordIn(value: Uint8Array): JsonObject | undefined {
  const record: Json = JSON.parse(Buffer.from(value).toString())
  return isJsonObject(record) ? record : undefined
}

/** The record that a write changes. A marked intent is moved: it is deleted, and written again as destroy/<id>. */
function predecessorOf({ records, deleted }: State, { key, revision }: Write): JsonObject | undefined {
  const origin = key.replace('/intent/destroy/', '/intent/')
  const moved = deleted.get(origin)
  return (
    (records.get(key) ?? records.get(origin))?.record ??
    (moved?.revision === revision ? moved.record : undefined)
  )
}

function note(state: State, { key, value, revision }: Write): JsonObject | undefined {
  const { records, deleted } = state
  const folder = state.collectionOf(key)?.folder ?? ''
  const change = RECORD_CHANGES[folder]
  if (change === undefined || change.kind === 'replaced') return undefined
  const before = records.get(key)?.record
  const record = value && recordIn(value)
  if (record !== undefined) records.set(key, { folder, record })
  else if (before !== undefined) deleted.set(key, { revision, record: before })
  if (record === undefined) records.delete(key)
  return record
}

function checkChange(
  state: State,
  { folder, shape }: Collection<unknown>,
  key: string,
  before: JsonObject,
  next: JsonObject,
): void {
  const { counts, faults } = state
  const change = RECORD_CHANGES[folder]
  if (change === undefined || change.kind === 'replaced') return
  if (change.kind === 'written once' && knownText(shape, before) !== knownText(shape, next))
    faults.push(`${key} is written once, but it changed`)
  const { expected, lost } = findLost(shape, before, next, 'replaced' in change ? change.replaced : {})
  const isRestored = lost.length > 0 && folder === deployments.folder && isRollback(state, before, next)
  if (!isRestored) faults.push(...lost.map((path) => `${key} lost ${path}`))
  const count = counts.get(folder)
  if (count === undefined || expected === 0) return
  count.changes += 1
  count.members += expected
}

/** Whether a deployment was rolled back: it then has the spec of an archived revision, with the unknown members there. */
function isRollback({ records }: State, before: JsonObject, next: JsonObject): boolean {
  const { shape } = deployments
  return [...records.values()].some(({ folder, record: { uid, spec } }) => {
    if (folder !== archive.folder || uid !== next['uid'] || !isJsonObject(spec)) return false
    const { secretsVersion } = Object(next['spec'])
    const isSame = knownText(shape, { ...next, spec: { ...spec, secretsVersion } }) === knownText(shape, next)
    return isSame && findLost(shape, { ...before, spec }, next).lost.length === 0
  })
}
