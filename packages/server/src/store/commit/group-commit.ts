// Group commit: transactions that wait at the same time are sent as nested transactions of one etcd transaction, each
// with its own compares and its own verdict (docs/design/store.md#group-commit).
//
// etcd evaluates all nested compares before any nested write. Two transactions may therefore share a batch only if
// neither writes a key that the other compares or writes; a conflicting transaction waits for the next batch. No
// transaction then depends on another one of its batch, so every serial order of the batch has the same result.

import type { Compare, KeyValueEngine, Operation, OperationResult } from '../../ports/key-value.ts'
import { EngineError } from '../../ports/key-value.ts'

export type Write = Extract<Operation, { kind: 'put' | 'delete' }>

export interface PreparedTransaction {
  readonly compares: readonly Compare[]
  readonly writes: readonly Write[]
}

/**
 * `refused`: etcd received the transaction, and a compare failed. `overtaken`: the transaction was not sent, because
 * another transaction of this process changed a key that it compares; etcd's revision may be later than `revision`. After
 * either verdict nothing was written.
 */
export interface Verdict {
  readonly kind: 'committed' | 'refused' | 'overtaken'
  readonly revision: number
}

export interface GroupCommitOptions {
  /** The most transactions in a batch; 1 disables group commit, so that every transaction is sent alone. */
  readonly maxTransactions: number
  readonly maxBytes: number
  readonly maxInFlight: number
  /** Number of waiting transactions at which a batch is sent at once, so that etcd and this process work in parallel. */
  readonly flushAt: number
  /**
   * The most operations of a batch: those of the outer transaction plus those of the largest nested one. etcd allows 128.
   */
  readonly maxOperations: number
  /**
   * Deadline of one request to etcd. The deadline is short, because a batch that waits for a lost leader blocks later
   * batches. With it, writes succeed again within five seconds after an election of two seconds.
   */
  readonly deadlineMs: number
  /** Creates the conflict rule for a batch. A test replaces the conflict rule to show that the rule is needed. */
  readonly conflictRule: () => ConflictRule
}

export interface ConflictRule {
  /** Adds the transaction to the batch and returns true, unless it conflicts with another transaction of the batch. */
  admit(transaction: PreparedTransaction): boolean
}

export const GROUP_COMMIT_DEFAULTS: GroupCommitOptions = {
  maxTransactions: 64,
  maxBytes: 256 * 1024,
  maxInFlight: 3,
  flushAt: 16,
  maxOperations: 120,
  deadlineMs: 2_500,
  conflictRule: disjointKeys,
}

export interface GroupCommit {
  /**
   * Queues a transaction. Rejects with an EngineError if etcd returned no verdict; its `applied` shows whether the write
   * may have happened. A transaction that still waits at `until`, on the monotonic clock, is not sent.
   */
  submit(transaction: PreparedTransaction, until?: number): Promise<Verdict>
}

type Engine = Pick<KeyValueEngine, 'transact'>

interface QueuedTransaction {
  readonly transaction: PreparedTransaction
  readonly bytes: number
  readonly operations: number
  /** True if the transaction must be sent alone: it has a key range, and the conflict rule compares only single keys. */
  readonly alone: boolean
  readonly until: number
  resolve(verdict: Verdict): void
  reject(error: unknown): void
}

export function createGroupCommit(engine: Engine, given: Partial<GroupCommitOptions> = {}): GroupCommit {
  const options = { ...GROUP_COMMIT_DEFAULTS, ...given }
  let queue: QueuedTransaction[] = []
  let inFlight = 0
  let scheduled = false

  const schedule = (): void => {
    if (scheduled || queue.length === 0 || inFlight >= options.maxInFlight) return
    scheduled = true
    setImmediate(flush)
  }

  const flush = (): void => {
    scheduled = false
    if (inFlight >= options.maxInFlight) return
    queue = rejectLate(queue, performance.now())
    if (queue.length === 0) return
    const { batch, rest } = takeBatch(queue, options)
    queue = rest
    inFlight += 1
    void send(engine, batch, options.deadlineMs)
      .then((committed) => {
        queue = rejectOvertaken(queue, committed)
      })
      .finally(() => {
        inFlight -= 1
        schedule()
      })
    schedule()
  }

  return {
    submit: (transaction, until = Number.POSITIVE_INFINITY) =>
      new Promise((resolve, reject) => {
        queue.push({ transaction, ...measure(transaction), until, resolve, reject })
        if (queue.length >= options.flushAt) flush()
        else schedule()
      }),
  }
}

function measure(
  transaction: PreparedTransaction,
): Pick<QueuedTransaction, 'bytes' | 'operations' | 'alone'> {
  let bytes = 64 * transaction.compares.length
  for (const write of transaction.writes)
    bytes += write.key.length + (write.kind === 'put' ? write.value.length : 0)
  const ranged = [...transaction.compares, ...transaction.writes].some((part) => 'rangeEnd' in part)
  const operations = Math.max(transaction.compares.length, transaction.writes.length)
  return { bytes, operations, alone: ranged }
}

/** Removes from the queue as many transactions as fit into one batch, in the order of arrival; the others stay queued. */
function takeBatch(
  queue: readonly QueuedTransaction[],
  options: GroupCommitOptions,
): { batch: QueuedTransaction[]; rest: QueuedTransaction[] } {
  const batch: QueuedTransaction[] = []
  const rest: QueuedTransaction[] = []
  const rule = options.conflictRule()
  let bytes = 0
  let largest = 0
  for (const waiting of queue) {
    const inner = Math.max(largest, waiting.operations)
    const full = bytes + waiting.bytes > options.maxBytes || batch.length + 1 + inner > options.maxOperations
    const shut = batch.length >= options.maxTransactions || (batch.length > 0 && (full || waiting.alone))
    if (shut || batch[0]?.alone === true || !rule.admit(waiting.transaction)) {
      rest.push(waiting)
      continue
    }
    batch.push(waiting)
    bytes += waiting.bytes
    largest = inner
  }
  return { batch, rest }
}

/** The conflict rule: no transaction of a batch writes a key that another one compares or writes. */
export function disjointKeys(): ConflictRule {
  const written = new Set<string>()
  const compared = new Set<string>()
  return {
    admit(transaction) {
      if (transaction.compares.some(({ key }) => written.has(key))) return false
      if (transaction.writes.some(({ key }) => written.has(key) || compared.has(key))) return false
      for (const { key } of transaction.compares) compared.add(key)
      for (const { key } of transaction.writes) written.add(key)
      return true
    },
  }
}

/** Sends a batch; each caller gets its own verdict or error. Resolves to the committed writes with their revision. */
async function send(
  engine: Engine,
  batch: readonly QueuedTransaction[],
  deadlineMs: number,
): Promise<Committed[]> {
  const [only] = batch
  if (only !== undefined && batch.length === 1) return sendAlone(engine, only, deadlineMs)
  try {
    const success = batch.map(
      (waiting): Operation => ({ kind: 'transaction', transaction: nested(waiting.transaction) }),
    )
    const result = await engine.transact({ compares: [], success, failure: [] }, { deadlineMs })
    return batch.flatMap((waiting, index) =>
      settle(waiting, verdictOf(result.results[index], result.revision)),
    )
  } catch (error) {
    return afterFailure(engine, batch, error, deadlineMs)
  }
}

async function sendAlone(
  engine: Engine,
  waiting: QueuedTransaction,
  deadlineMs: number,
): Promise<Committed[]> {
  try {
    const { succeeded, revision } = await engine.transact(nested(waiting.transaction), { deadlineMs })
    return settle(waiting, { kind: succeeded ? 'committed' : 'refused', revision })
  } catch (error) {
    waiting.reject(error)
    return []
  }
}

/**
 * After etcd rejected a whole batch, sends its transactions one by one, so that one invalid request does not fail the
 * others. This is safe only if etcd certainly did not apply the batch: otherwise writes could happen twice.
 */
async function afterFailure(
  engine: Engine,
  batch: readonly QueuedTransaction[],
  error: unknown,
  deadlineMs: number,
): Promise<Committed[]> {
  if (isRefusedWhole(error))
    return (await Promise.all(batch.map((waiting) => sendAlone(engine, waiting, deadlineMs)))).flat()
  for (const waiting of batch) waiting.reject(error)
  return []
}

function isRefusedWhole(error: unknown): boolean {
  if (!(error instanceof EngineError) || error.applied !== 'no') return false
  return error.reason === 'invalid' || error.reason === 'too_large'
}

function nested(transaction: PreparedTransaction) {
  return { compares: transaction.compares, success: transaction.writes, failure: [] }
}

function verdictOf(result: OperationResult | undefined, revision: number): Verdict {
  if (result?.kind !== 'transaction')
    throw new EngineError('invalid', 'unknown', 'a nested transaction has no verdict')
  return { kind: result.transaction.succeeded ? 'committed' : 'refused', revision }
}

interface Committed {
  readonly writes: readonly Write[]
  readonly revision: number
}

function settle(waiting: QueuedTransaction, verdict: Verdict): Committed[] {
  waiting.resolve(verdict)
  return verdict.kind === 'committed'
    ? [{ writes: waiting.transaction.writes, revision: verdict.revision }]
    : []
}

function rejectLate(queue: QueuedTransaction[], now: number): QueuedTransaction[] {
  const late = queue.filter(({ until }) => until <= now)
  if (late.length === 0) return queue
  for (const { reject } of late)
    reject(new EngineError('deadline', 'no', 'the transaction was not sent before its deadline'))
  return queue.filter(({ until }) => until > now)
}

/**
 * Ends queued transactions that can no longer succeed: they compare a key with a state that a committed transaction has
 * just changed. Each gets its verdict here, at the revision of that commit, without a request to etcd.
 */
function rejectOvertaken(queue: QueuedTransaction[], committed: readonly Committed[]): QueuedTransaction[] {
  const changed = new Map<string, Committed>()
  for (const each of committed) for (const { key } of each.writes) changed.set(key, each)
  if (changed.size === 0 || queue.length === 0) return queue
  return queue.filter((waiting) => {
    const winner = waiting.transaction.compares
      .map((compare) => ({ compare, by: changed.get(compare.key) }))
      .find(({ compare, by }) => by !== undefined && isOvertaken(compare, by))
    if (winner?.by !== undefined) waiting.resolve({ kind: 'overtaken', revision: winner.by.revision })
    return winner === undefined
  })
}

function isOvertaken(compare: Compare, by: Committed): boolean {
  if (compare.is !== 'equal' || compare.rangeEnd !== undefined) return false
  const put = by.writes.some((write) => write.kind === 'put' && write.key === compare.key)
  // A compare with a newer revision may succeed, because another process wrote the key after the committed transaction.
  if (compare.target === 'modRevision') return compare.value < by.revision && (put || compare.value !== 0)
  return compare.target === 'version' && compare.value === 0 && put
}
