// Group commit: transactions that wait at the same time travel as nested transactions of one etcd transaction, each with
// its own compares and its own verdict (DESIGN 5, PERFORMANCE 2.1).
//
// The trap, and the rule that closes it: etcd evaluates all nested compares before any nested write. Two transactions may
// therefore share a batch only if neither writes a key that the other compares or writes; a conflicting one waits for the
// next batch. Then no transaction of a batch sees another, and the batch equals each of its serial orders.

import type { Compare, KeyValueEngine, Operation, OperationResult } from '../../ports/key-value.ts'
import { EngineError } from '../../ports/key-value.ts'

export type Write = Extract<Operation, { kind: 'put' | 'delete' }>

export interface PreparedTransaction {
  readonly compares: readonly Compare[]
  readonly writes: readonly Write[]
}

/**
 * `refused`: a compare did not hold when the engine looked, after the transaction was submitted. `overtaken`: it was not
 * even sent, because another one of ours had changed what it compares; the engine may be further than `revision` by now.
 * Nothing was written in either case.
 */
export interface Verdict {
  readonly kind: 'committed' | 'refused' | 'overtaken'
  readonly revision: number
}

export interface GroupCommitOptions {
  /** 1 switches grouping off: every transaction travels alone. */
  readonly maxTransactions: number
  readonly maxBytes: number
  readonly maxInFlight: number
  /** So many waiting ones do not wait for the end of the turn: the engine works while the rest is still being prepared. */
  readonly flushAt: number
  /** Outer plus largest inner operations; etcd shares its limit of 128 between them. */
  readonly maxOperations: number
  /**
   * Of one request to the engine. Short, because a batch that a lost leader holds back also holds a place in flight:
   * with an election of two seconds this still has writes back within five.
   */
  readonly deadlineMs: number
  /** Which transactions may share a batch, asked anew for each batch. The proof of the rule takes it away. */
  readonly conflictRule: () => ConflictRule
}

export interface ConflictRule {
  /** Takes the transaction into the batch, unless it writes what another touches or touches what another writes. */
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
   * Rejects with an EngineError when the engine gave no verdict; `applied` then says whether it may have happened. What
   * still waits for its turn at `until`, on the monotonic clock, is not sent any more.
   */
  submit(transaction: PreparedTransaction, until?: number): Promise<Verdict>
}

type Engine = Pick<KeyValueEngine, 'transact'>

interface Waiting {
  readonly transaction: PreparedTransaction
  readonly bytes: number
  readonly operations: number
  /** Ranges are not in the key sets below, so a transaction with one travels alone. */
  readonly alone: boolean
  readonly until: number
  resolve(verdict: Verdict): void
  reject(error: unknown): void
}

export function createGroupCommit(engine: Engine, given: Partial<GroupCommitOptions> = {}): GroupCommit {
  const options = { ...GROUP_COMMIT_DEFAULTS, ...given }
  let queue: Waiting[] = []
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
    queue = refuseLate(queue, performance.now())
    if (queue.length === 0) return
    const { batch, rest } = takeBatch(queue, options)
    queue = rest
    inFlight += 1
    void send(engine, batch, options.deadlineMs)
      .then((committed) => {
        queue = abortIfPendingDestruction(queue, committed)
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

function measure(transaction: PreparedTransaction): Pick<Waiting, 'bytes' | 'operations' | 'alone'> {
  let bytes = 64 * transaction.compares.length
  for (const write of transaction.writes)
    bytes += write.key.length + (write.kind === 'put' ? write.value.length : 0)
  const ranged = [...transaction.compares, ...transaction.writes].some((part) => 'rangeEnd' in part)
  const operations = Math.max(transaction.compares.length, transaction.writes.length)
  return { bytes, operations, alone: ranged }
}

/** In the order of arrival, as many as fit together; the others keep their places. */
function takeBatch(
  queue: readonly Waiting[],
  options: GroupCommitOptions,
): { batch: Waiting[]; rest: Waiting[] } {
  const batch: Waiting[] = []
  const rest: Waiting[] = []
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

/** The rule above: neither writes a key that the other compares or writes. */
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

/** Never rejects: each waiting caller hears its own verdict or error. Resolves to what was committed, with its revision. */
async function send(engine: Engine, batch: readonly Waiting[], deadlineMs: number): Promise<Committed[]> {
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

async function sendAlone(engine: Engine, waiting: Waiting, deadlineMs: number): Promise<Committed[]> {
  try {
    const { succeeded, revision } = await engine.transact(nested(waiting.transaction), { deadlineMs })
    return settle(waiting, { kind: succeeded ? 'committed' : 'refused', revision })
  } catch (error) {
    waiting.reject(error)
    return []
  }
}

/**
 * A batch that was refused as a whole is sent again one by one, so that one bad request never fails its neighbours. Only
 * where the engine has certainly not taken it: otherwise the same writes could happen twice.
 */
async function afterFailure(
  engine: Engine,
  batch: readonly Waiting[],
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

function settle(waiting: Waiting, verdict: Verdict): Committed[] {
  waiting.resolve(verdict)
  return verdict.kind === 'committed'
    ? [{ writes: waiting.transaction.writes, revision: verdict.revision }]
    : []
}

function refuseLate(queue: Waiting[], now: number): Waiting[] {
  const late = queue.filter(({ until }) => until <= now)
  if (late.length === 0) return queue
  for (const { reject } of late) reject(new EngineError('deadline', 'no', 'its turn did not come in time'))
  return queue.filter(({ until }) => until > now)
}

/**
 * A thousand callers may race for one key. Once one of them has won, a waiting transaction that compares that key with
 * what it was before cannot succeed any more; it is turned away here, as of the winner's revision, instead of asking the
 * engine a thousand times.
 */
function abortIfPendingDestruction(queue: Waiting[], committed: readonly Committed[]): Waiting[] {
  const changed = new Map<string, Committed>()
  for (const each of committed) for (const { key } of each.writes) changed.set(key, each)
  if (changed.size === 0 || queue.length === 0) return queue
  return queue.filter((waiting) => {
    const winner = waiting.transaction.compares
      .map((compare) => ({ compare, by: changed.get(compare.key) }))
      .find(({ compare, by }) => by !== undefined && isPendingDestruction(compare, by))
    if (winner?.by !== undefined) waiting.resolve({ kind: 'overtaken', revision: winner.by.revision })
    return winner === undefined
  })
}

function isPendingDestruction(compare: Compare, by: Committed): boolean {
  if (compare.is !== 'equal' || compare.rangeEnd !== undefined) return false
  const put = by.writes.some((write) => write.kind === 'put' && write.key === compare.key)
  // What is newer than the winner may hold: somebody else wrote after it.
  if (compare.target === 'modRevision') return compare.value < by.revision && (put || compare.value !== 0)
  return compare.target === 'version' && compare.value === 0 && put
}
