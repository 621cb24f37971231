// Tests which requests group commit sends to a scripted engine. group-commit.real.test.ts tests how etcd applies them.

import { absent, put } from '@holdfast/simulation/conformance/fixtures'
import { describe, expect, test } from 'vitest'
import {
  EngineError,
  type KeyValueEngine,
  type Operation,
  type TransactionRequest,
  type TransactionResult,
} from '../../ports/key-value.ts'
import {
  createGroupCommit,
  type GroupCommitOptions,
  type PreparedTransaction,
  type Write,
} from './group-commit.ts'

interface Sent {
  readonly request: TransactionRequest
  readonly deadlineMs: number | undefined
  answer(result: TransactionResult): void
  fail(error: EngineError): void
}

function batcher(options: Partial<GroupCommitOptions> = {}) {
  const sent: Sent[] = []
  const transact: KeyValueEngine['transact'] = (request, call) =>
    new Promise((answer, fail) => sent.push({ request, deadlineMs: call?.deadlineMs, answer, fail }))
  const group = createGroupCommit({ transact }, options)
  const verdicts: string[] = []
  const submit = (name: string, transaction: PreparedTransaction, until?: number) => {
    group.submit(transaction, until).then(
      ({ kind, revision }) => verdicts.push(`${name} ${kind} ${revision}`),
      (error: EngineError) => verdicts.push(`${name} ${error.reason} ${error.applied}`),
    )
  }
  return { sent, submit, verdicts }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const transaction = (compares: string[], writes: string[]): PreparedTransaction => ({
  compares: compares.map(absent),
  writes: writes.map((key) => put(key) as Write),
})
const writing = (...keys: string[]) => transaction([], keys)

/** The keys that each transaction of a request writes. A transaction that is alone in its request is not nested. */
const shapeOf = ({ request }: Sent): string[][] => {
  const keys = (operations: readonly Operation[]) => operations.map((one) => ('key' in one ? one.key : '?'))
  const inner = request.success.flatMap((one) =>
    one.kind === 'transaction' ? [keys(one.transaction.success)] : [],
  )
  return inner.length > 0 ? inner : [keys(request.success)]
}

const verdict = (succeeded: boolean, revision: number, results: TransactionResult['results'] = []) => ({
  succeeded,
  revision,
  results,
})
const nestedVerdicts = (revision: number, ...succeeded: boolean[]) =>
  verdict(
    true,
    revision,
    succeeded.map((one) => ({ kind: 'transaction', transaction: verdict(one, revision) })),
  )

describe('which transactions share a batch', () => {
  test('groups transactions that wait at the same time, each with its own verdict', async () => {
    const { sent, submit, verdicts } = batcher()
    for (const name of ['a', 'b', 'c']) submit(name, transaction([`${name}?`], [name]))
    await turn()
    expect(sent.map(shapeOf)).toEqual([[['a'], ['b'], ['c']]])
    expect(sent[0]?.request.compares).toEqual([])
    sent[0]?.answer(nestedVerdicts(9, true, false, true))
    await turn()
    expect(verdicts).toEqual(['a committed 9', 'b refused 9', 'c committed 9'])
  })

  test('does not nest a single transaction', async () => {
    const { sent, submit, verdicts } = batcher()
    submit('a', transaction(['x'], ['y']))
    await turn()
    expect(sent[0]?.request).toMatchObject({ compares: [absent('x')], success: [{ kind: 'put', key: 'y' }] })
    sent[0]?.answer(verdict(false, 5))
    await turn()
    expect(verdicts).toEqual(['a refused 5'])
  })

  test.each([
    ['writes what the other compares', transaction(['x'], ['a']), transaction([], ['x'])],
    ['compares what the other writes', transaction([], ['x']), transaction(['x'], ['a'])],
    ['writes what the other writes', writing('x', 'a'), writing('b', 'x')],
    ['and each compares what the other writes', transaction(['x'], ['y']), transaction(['y'], ['x'])],
  ])('separates a transaction that %s', async (_, first, second) => {
    const { sent, submit } = batcher()
    submit('first', first)
    submit('second', second)
    submit('third', writing('free'))
    await turn()
    expect(sent).toHaveLength(2)
    expect(sent.map((one) => shapeOf(one).length)).toEqual([2, 1])
    expect(shapeOf(sent[0] as Sent)[1]).toEqual(['free'])
  })

  test('groups two transactions that compare the same key', async () => {
    const { sent, submit } = batcher()
    submit('first', transaction(['x'], ['a']))
    submit('second', transaction(['x'], ['b']))
    await turn()
    expect(sent).toHaveLength(1)
  })

  test('sends a transaction with a written or compared range alone', async () => {
    const range = { key: '/a/', rangeEnd: '/a0' }
    const ranged: PreparedTransaction[] = [
      { compares: [], writes: [{ kind: 'delete', ...range }] },
      { compares: [{ ...range, target: 'createRevision', is: 'equal', value: 0 }], writes: [] },
    ]
    for (const one of ranged) {
      const { sent, submit } = batcher({ maxInFlight: 9 })
      submit('before', writing('b'))
      submit('ranged', one)
      submit('after', writing('c'))
      await turn()
      await turn()
      expect(sent).toHaveLength(2)
      expect(shapeOf(sent[0] as Sent)).toEqual([['b'], ['c']])
      expect(sent[1]?.request).toEqual({ compares: one.compares, success: one.writes, failure: [] })
    }
  })

  test('sends every transaction alone when grouping is disabled', async () => {
    const { sent, submit } = batcher({ maxTransactions: 1, maxInFlight: 9 })
    for (const name of ['a', 'b', 'c']) submit(name, writing(name))
    await turn()
    await turn()
    expect(sent.map(shapeOf)).toEqual([[['a']], [['b']], [['c']]])
    for (const { request } of sent) expect(request.success).toMatchObject([{ kind: 'put' }])
  })
})

describe('the limits of a batch', () => {
  const sizes = (sent: readonly Sent[]) => sent.map((one) => shapeOf(one).length)

  test('limits the number of transactions', async () => {
    const { sent, submit } = batcher({ maxInFlight: 9, flushAt: 1_000 })
    for (let index = 0; index < 130; index += 1) submit('', writing(`k${index}`))
    await turn()
    await turn()
    expect(sizes(sent)).toEqual([64, 64, 2])
  })

  test('flushes at a threshold before the end of the turn, if a request may be in flight', () => {
    const { sent, submit } = batcher({ maxInFlight: 2, flushAt: 4 })
    for (let index = 0; index < 3; index += 1) submit('', writing(`k${index}`))
    expect(sizes(sent)).toEqual([])
    for (let index = 3; index < 20; index += 1) submit('', writing(`k${index}`))
    expect(sizes(sent)).toEqual([4, 4])
  })

  test('limits the bytes and sends a larger transaction alone after the others', async () => {
    const { sent, submit } = batcher({ maxBytes: 1_000, maxInFlight: 9 })
    const sized = (key: string, bytes: number): PreparedTransaction => ({
      compares: [],
      writes: [{ kind: 'put', key, value: new Uint8Array(bytes) }],
    })
    submit('', sized('a', 400))
    submit('', sized('huge', 5_000))
    submit('', sized('b', 400))
    submit('', sized('c', 400))
    await turn()
    await turn()
    expect(sent.map(shapeOf)).toEqual([[['a'], ['b']], [['huge']], [['c']]])
  })

  test('limits outer and largest inner operations together', async () => {
    const { sent, submit } = batcher({ maxOperations: 10, maxInFlight: 99 })
    const large = (name: string, count: number) =>
      writing(...Array.from({ length: count }, (_, index) => `${name}${index}`))
    for (let index = 0; index < 5; index += 1) submit('', large(`a${index}.`, 6))
    submit(
      '',
      transaction(
        Array.from({ length: 12 }, (_, index) => `c${index}`),
        ['d'],
      ),
    )
    await turn()
    await turn()
    for (const one of sent) {
      const inner = Math.max(...shapeOf(one).map((keys) => keys.length))
      if (shapeOf(one).length > 1) expect(shapeOf(one).length + inner).toBeLessThanOrEqual(10)
    }
    expect(sizes(sent)).toEqual([4, 1, 1])
  })

  test('limits the batches in flight and sends the next when one returns', async () => {
    const { sent, submit } = batcher({ maxTransactions: 1, maxInFlight: 2 })
    for (const name of ['a', 'b', 'c']) submit(name, writing(name))
    await turn()
    await turn()
    expect(sent).toHaveLength(2)
    sent[1]?.fail(new EngineError('unavailable', 'unknown', ''))
    await turn()
    expect(sent).toHaveLength(3)
  })
})

describe('failures of a batch', () => {
  test.each(['invalid', 'too_large'] as const)(
    'a batch that is refused as %s is sent one by one, and only the bad one fails',
    async (reason) => {
      const { sent, submit, verdicts } = batcher()
      for (const name of ['good', 'bad', 'fine']) submit(name, writing(name))
      await turn()
      sent[0]?.fail(new EngineError(reason, 'no', ''))
      await turn()
      expect(sent.slice(1).map(shapeOf)).toEqual([[['good']], [['bad']], [['fine']]])
      sent[1]?.answer(verdict(true, 5))
      sent[2]?.fail(new EngineError(reason, 'no', ''))
      sent[3]?.answer(verdict(true, 6))
      await turn()
      expect(verdicts.sort()).toEqual([`bad ${reason} no`, 'fine committed 6', 'good committed 5'])
    },
  )

  test.each([
    ['an unreadable answer', new EngineError('invalid', 'unknown', '')],
    ['a lost connection', new EngineError('unavailable', 'unknown', '')],
    ['a deadline', new EngineError('deadline', 'unknown', '')],
    ['no connection', new EngineError('unavailable', 'no', '')],
  ])('reports %s to each transaction and sends nothing again', async (_, error) => {
    const { sent, submit, verdicts } = batcher()
    for (const name of ['a', 'b']) submit(name, writing(name))
    await turn()
    sent[0]?.fail(error)
    await turn()
    expect(sent).toHaveLength(1)
    expect(verdicts).toEqual([`a ${error.reason} ${error.applied}`, `b ${error.reason} ${error.applied}`])
  })

  test('rejects transactions without a verdict and sends nothing again', async () => {
    const { sent, submit, verdicts } = batcher()
    for (const name of ['a', 'b']) submit(name, writing(name))
    await turn()
    sent[0]?.answer(nestedVerdicts(9, true))
    await turn()
    expect(sent).toHaveLength(1)
    expect(verdicts).toEqual(['a committed 9', 'b invalid unknown'])
  })

  test('rejects a queued transaction at its deadline without sending it', async () => {
    const { sent, submit, verdicts } = batcher({ maxInFlight: 1 })
    submit('first', writing('a'))
    await turn()
    submit('late', writing('b'), performance.now())
    submit('in time', writing('c'), performance.now() + 60_000)
    sent[0]?.answer(verdict(true, 5))
    await turn()
    expect(verdicts).toEqual(['first committed 5', 'late deadline no'])
    expect(sent.slice(1).map(shapeOf)).toEqual([[['c']]])
  })

  test('sends the batch deadline with every request', async () => {
    const { sent, submit } = batcher({ deadlineMs: 1_234, maxInFlight: 9 })
    for (const name of ['a', 'b', 'a']) submit(name, writing(name))
    await turn()
    await turn()
    expect(sent.map((one) => one.deadlineMs)).toEqual([1_234, 1_234])
  })
})

describe('a queued transaction that cannot succeed after a commit', () => {
  const unchangedSince = (revision: number): PreparedTransaction => ({
    compares: [{ key: 'x', target: 'modRevision', is: 'equal', value: revision }],
    writes: [put('x') as Write],
  })

  async function afterWinner(winner: PreparedTransaction, loser: PreparedTransaction) {
    const { sent, submit, verdicts } = batcher({ maxInFlight: 1 })
    submit('winner', winner)
    await turn()
    submit('other', loser)
    sent[0]?.answer(verdict(true, 9))
    await turn()
    return { sent: sent.length, verdicts: verdicts.slice(1) }
  }

  const overtaken = { sent: 1, verdicts: ['other overtaken 9'] }
  const asked = { sent: 2, verdicts: [] }
  const deleting: PreparedTransaction = { compares: [], writes: [{ kind: 'delete', key: 'x' }] }

  test.each([
    ['a key that must be absent was put', writing('x'), transaction(['x'], ['x']), overtaken],
    ['a key that must be unchanged was put', writing('x'), unchangedSince(3), overtaken],
    ['a key that must be unchanged was deleted', deleting, unchangedSince(3), overtaken],
    ['it has seen what the winner wrote', writing('x'), unchangedSince(9), asked],
    ['it has seen what came after the winner', writing('x'), unchangedSince(11), asked],
    ['a key that must be absent was deleted', deleting, transaction(['x'], ['x']), asked],
    ['another key was put', writing('y'), transaction(['x'], ['x']), asked],
  ])('%s', async (_, winner, loser, expected) => {
    expect(await afterWinner(winner, loser)).toEqual(expected)
  })

  test('settles a thousand racers for one key with a few requests', async () => {
    const { sent, submit, verdicts } = batcher()
    for (let index = 0; index < 1_000; index += 1) submit(`${index}`, transaction(['x'], ['x']))
    await turn()
    await turn()
    expect(sent).toHaveLength(3)
    sent[0]?.answer(verdict(true, 9))
    sent[1]?.answer(verdict(false, 9))
    sent[2]?.answer(verdict(false, 9))
    await turn()
    expect(sent).toHaveLength(3)
    expect(verdicts).toHaveLength(1_000)
    expect(verdicts.filter((one) => one.includes('committed'))).toEqual(['0 committed 9'])
  })
})
