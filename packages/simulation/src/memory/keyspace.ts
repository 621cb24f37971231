// The in-memory store: etcd's keys, revisions and transactions, answered synchronously. In a simulation each server has
// its own connection to the store (connect-memory.ts).

import type {
  Compare,
  KeyRange,
  KeyValue,
  Operation,
  OperationResult,
  RangeRequest,
  RangeResult,
  TransactionRequest,
  TransactionResult,
  WatchEvent,
} from '@holdfast/server/ports/key-value'
import { checkRange, checkTransaction, refuse, requireInteger } from './check-request.ts'
import { createEventLog, type EventLog } from './event-log.ts'
import { createHistories, type Histories } from './histories.ts'

export interface KeyWrite {
  readonly kind: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** The written value; empty for a delete. */
  readonly bytes: Uint8Array
}

export interface MemoryKeyspace {
  readonly revision: number
  /** Total bytes of all versions in the store. */
  readonly bytes: number
  range(request: RangeRequest): RangeResult
  transact(request: TransactionRequest): TransactionResult
  compact(revision: number): void
  readonly log: EventLog
  /** Adds a listener that receives every write in order; returns a function that removes the listener. */
  onWrite(listener: (write: KeyWrite) => void): () => void
}

interface State {
  readonly histories: Histories
  readonly log: EventLog
  /** Writes of the current transaction, in order. */
  changes: WatchEvent[]
}

export function createMemoryKeyspace(): MemoryKeyspace {
  const state: State = { histories: createHistories(), log: createEventLog(), changes: [] }
  const { histories, log } = state
  const listeners = new Set<(write: KeyWrite) => void>()
  return {
    get revision() {
      return log.revision
    },
    get bytes() {
      return histories.bytes
    },
    log,
    range(request) {
      checkRange(request)
      requireReadable(state, request.revision ?? 0, 0)
      return readRange(state, request)
    },
    transact(request) {
      checkTransaction(request)
      const plan = planOf(state, request)
      requireReads(state, plan)
      const results = execute(state, plan)
      const { changes } = state
      state.changes = []
      if (changes.length > 0) log.append(changes)
      for (const change of changes) for (const listener of listeners) listener(writeOf(change))
      return withRevision({ succeeded: plan.succeeded, revision: log.revision, results })
    },
    compact(revision) {
      requireInteger(revision)
      if (revision <= log.compacted) throw refuse('compacted', `${revision} is compacted already`)
      if (revision > log.revision) throw refuse('invalid', `${revision} is a future revision`)
      log.compact(revision, (key) => histories.compact(key, revision))
    },
    onWrite(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A transaction with its branches chosen: all compares, including nested ones, are evaluated before the first write. */
interface Plan {
  readonly succeeded: boolean
  readonly steps: readonly Step[]
}

type Step = Exclude<Operation, { kind: 'transaction' }> | { readonly kind: 'plan'; readonly plan: Plan }

function planOf(state: State, { compares, success, failure }: TransactionRequest): Plan {
  const succeeded = compares.every((compare) => holds(state, compare))
  const steps = (succeeded ? success : failure).map((operation) =>
    operation.kind === 'transaction'
      ? { kind: 'plan' as const, plan: planOf(state, operation.transaction) }
      : operation,
  )
  return { succeeded, steps }
}

const ABSENT = { version: 0, modRevision: 0, createRevision: 0 }

/** True if a compare holds for every key of its range. A range without keys is compared as one absent key, with zeros. */
function holds({ histories }: State, compare: Compare): boolean {
  const found: readonly Pick<KeyValue, Compare['target']>[] = histories.list(compare)
  return (found.length === 0 ? [ABSENT] : found).every((kv) => holdsFor(kv[compare.target], compare))
}

function holdsFor(actual: number, { is, value }: Compare): boolean {
  switch (is) {
    case 'equal':
      return actual === value
    case 'notEqual':
      return actual !== value
    case 'less':
      return actual < value
    case 'greater':
      return actual > value
  }
}

/** Checks the reads of the chosen branches in advance, so that no operation fails after writing has begun. */
function requireReads(state: State, { steps }: Plan): void {
  for (const step of steps) {
    if (step.kind === 'plan') requireReads(state, step.plan)
    // NOTE etcd treats a negative revision as compacted in a transaction, but as the newest revision in a range request.
    else if (step.kind === 'range') requireReadable(state, step.revision ?? 0, Number.NEGATIVE_INFINITY)
  }
}

function requireReadable({ log }: State, revision: number, newestUpTo: number): void {
  if (revision === 0 || revision <= newestUpTo) return
  if (revision > log.revision) throw refuse('invalid', `${revision} is a future revision`)
  if (revision < log.compacted) throw refuse('compacted', `${revision} is compacted`)
}

const execute = (state: State, { steps }: Plan): OperationResult[] => steps.map((step) => run(state, step))

function run(state: State, step: Step): OperationResult {
  switch (step.kind) {
    case 'put':
      state.changes.push(state.histories.put(step.key, step.value, state.log.revision + 1))
      return { kind: 'put' }
    case 'delete':
      return { kind: 'delete', deleted: deleteRange(state, step) }
    case 'range':
      return { kind: 'range', range: readRange(state, step) }
    case 'plan': {
      const { succeeded } = step.plan
      const results = execute(state, step.plan)
      return { kind: 'transaction', transaction: { succeeded, revision: 0, results } }
    }
  }
}

function deleteRange({ histories, log, changes }: State, range: KeyRange): number {
  const found = histories.list(range)
  for (const { key } of found) changes.push(histories.delete(key, log.revision + 1))
  return found.length
}

/** Gives the results of nested transactions the revision of the outermost one, which is known only at the end. */
function withRevision(outer: TransactionResult): TransactionResult {
  if (!outer.results.some(({ kind }) => kind === 'transaction')) return outer
  const results = outer.results.map((result) =>
    result.kind === 'transaction'
      ? { ...result, transaction: withRevision({ ...result.transaction, revision: outer.revision }) }
      : result,
  )
  return { ...outer, results }
}

/** Reads a range. Within a transaction the read sees the earlier writes of that transaction. */
function readRange({ histories, log, changes }: State, request: RangeRequest): RangeResult {
  const reached = log.revision + (changes.length > 0 ? 1 : 0)
  const { revision = 0, limit = 0, countOnly = false, keysOnly = false } = request
  const newest = revision <= 0 || revision === reached
  const past = newest ? undefined : histories.listAt(request, revision)
  const count = past?.length ?? histories.count(request)
  if (countOnly) return { kvs: [], more: false, count, revision: reached }
  const shown = limit > 0 ? limit : count
  const kvs = past === undefined ? histories.list(request, shown) : past.slice(0, shown)
  return { kvs: keysOnly ? kvs.map(withoutValue) : kvs, more: count > shown, count, revision: reached }
}

const NO_VALUE = new Uint8Array(0)
const withoutValue = (kv: KeyValue): KeyValue => ({ ...kv, value: NO_VALUE })

function writeOf({ kind, kv }: WatchEvent): KeyWrite {
  return { kind, key: kv.key, revision: kv.modRevision, bytes: kv.value }
}
