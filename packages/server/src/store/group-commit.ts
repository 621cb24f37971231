// Group commit: transactions that wait at the same time travel as nested transactions of one etcd transaction, each with
// its own compares and its own verdict (DESIGN 5, PERFORMANCE 2.1).
//
// The trap, and the rule that closes it: etcd evaluates all nested compares before any nested write. Two transactions may
// therefore share a batch only if neither writes a key that the other compares or writes; a conflicting one waits for the
// next batch. Then no transaction of a batch sees another, and the batch equals each of its serial orders.

import type { Compare, KeyValueEngine, Operation, OperationResult } from '../ports/key-value.ts'
import { EngineError } from '../ports/key-value.ts'

export type Write = Extract<Operation, { kind: 'put' | 'delete' }>

export interface PreparedTransaction {
  readonly compares: readonly Compare[]
  readonly writes: readonly Write[]
}

/** `refused`: a compare did not hold and nothing was written. */
export interface Verdict {
  readonly kind: 'committed' | 'refused'
  readonly revision: number
}

export interface GroupCommitOptions {
  /** 1 switches grouping off: every transaction travels alone. */
  readonly maxTransactions: number
  readonly maxBytes: number
  readonly maxInFlight: number
  /** Outer plus largest inner operations; etcd shares its limit of 128 between them. */
  readonly maxOperations: number
  readonly deadlineMs: number
}

export const GROUP_COMMIT_DEFAULTS: GroupCommitOptions = {
  maxTransactions: 64,
  maxBytes: 256 * 1024,
  maxInFlight: 2,
  maxOperations: 120,
  deadlineMs: 5000,
}

export interface GroupCommit {
  /** Rejects with an EngineError when the engine gave no verdict; `applied` then says whether it may have happened. */
  submit(transaction: PreparedTransaction): Promise<Verdict>
}

interface Waiting {
  readonly transaction: PreparedTransaction
  readonly bytes: number
  readonly operations: number
  /** Ranges are not in the key sets below, so a transaction with one travels alone. */
  readonly alone: boolean
  resolve(verdict: Verdict): void
  reject(error: unknown): void
}

export function createGroupCommit(
  engine: KeyValueEngine,
  given: Partial<GroupCommitOptions> = {},
): GroupCommit {
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
    if (queue.length === 0) return
    const { batch, rest } = takeBatch(queue, options)
    queue = rest
    inFlight += 1
    void send(engine, batch, options.deadlineMs)
      .then((committed) => {
        queue = refuseDoomed(queue, committed)
      })
      .finally(() => {
        inFlight -= 1
        schedule()
      })
    schedule()
  }

  return {
    submit: (transaction) =>
      new Promise((resolve, reject) => {
        queue.push({ transaction, ...measure(transaction), resolve, reject })
        schedule()
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
  const keys = createKeySets()
  let bytes = 0
  let largest = 0
  for (const waiting of queue) {
    const inner = Math.max(largest, waiting.operations)
    const full = bytes + waiting.bytes > options.maxBytes || batch.length + 1 + inner > options.maxOperations
    const shut = batch.length >= options.maxTransactions || (batch.length > 0 && (full || waiting.alone))
    if (shut || batch[0]?.alone === true || !keys.admit(waiting.transaction)) {
      rest.push(waiting)
      continue
    }
    batch.push(waiting)
    bytes += waiting.bytes
    largest = inner
  }
  return { batch, rest }
}

interface KeySets {
  /** Takes the transaction's keys in, unless it writes what another touches or touches what another writes. */
  admit(transaction: PreparedTransaction): boolean
}

function createKeySets(): KeySets {
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
async function send(
  engine: KeyValueEngine,
  batch: readonly Waiting[],
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

async function sendAlone(engine: KeyValueEngine, waiting: Waiting, deadlineMs: number): Promise<Committed[]> {
  try {
    const { succeeded, revision } = await engine.transact(nested(waiting.transaction), { deadlineMs })
    return settle(waiting, { kind: succeeded ? 'committed' : 'refused', revision })
  } catch (error) {
    waiting.reject(error)
    return []
  }
}

/** A batch that was refused as a whole is sent again one by one, so that one bad request never fails its neighbours. */
async function afterFailure(
  engine: KeyValueEngine,
  batch: readonly Waiting[],
  error: unknown,
  deadlineMs: number,
): Promise<Committed[]> {
  const faulty = error instanceof EngineError && (error.reason === 'invalid' || error.reason === 'too_large')
  if (faulty)
    return (await Promise.all(batch.map((waiting) => sendAlone(engine, waiting, deadlineMs)))).flat()
  for (const waiting of batch) waiting.reject(error)
  return []
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

/**
 * A thousand callers may race for one key. Once one of them has won, a waiting transaction that compares that key with
 * what it was before cannot succeed any more right after the winner; it is refused here, as of the winner's revision,
 * instead of asking the engine a thousand times.
 */
function refuseDoomed(queue: Waiting[], committed: readonly Committed[]): Waiting[] {
  const changed = new Map<string, Committed>()
  for (const each of committed) for (const { key } of each.writes) changed.set(key, each)
  if (changed.size === 0 || queue.length === 0) return queue
  return queue.filter((waiting) => {
    const winner = waiting.transaction.compares
      .map((compare) => ({ compare, by: changed.get(compare.key) }))
      .find(({ compare, by }) => by !== undefined && isDoomed(compare, by))
    if (winner?.by !== undefined) waiting.resolve({ kind: 'refused', revision: winner.by.revision })
    return winner === undefined
  })
}

function isDoomed(compare: Compare, by: Committed): boolean {
  if (compare.is !== 'equal' || compare.rangeEnd !== undefined) return false
  const put = by.writes.some((write) => write.kind === 'put' && write.key === compare.key)
  if (compare.target === 'modRevision') return compare.value !== (put ? by.revision : 0)
  return compare.target === 'version' && compare.value === 0 && put
}
