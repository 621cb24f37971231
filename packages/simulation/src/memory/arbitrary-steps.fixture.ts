// Random operations on a key-value engine: few keys, so that requests conflict; revisions around the newest and the last
// compacted one and beyond both; nested transactions that write keys twice and exceed limits.

import type { Compare, KeyRange, RangeRequest } from '@holdfast/server/ports/key-value'
import fc from 'fast-check'

/** A revision relative to the store's revision at the time of the request. */
export interface Moment {
  readonly since: 'zero' | 'compaction' | 'now'
  readonly offset: number
}

export type RangeSketch = Omit<RangeRequest, 'revision'> & { readonly revision?: Moment }
export type CompareSketch = Omit<Compare, 'value'> & { readonly value: Moment }
export type OperationSketch =
  | { readonly kind: 'put'; readonly key: string; readonly bytes: number }
  | ({ readonly kind: 'delete' } & KeyRange)
  | ({ readonly kind: 'range' } & RangeSketch)
  | { readonly kind: 'transaction'; readonly transaction: TransactionSketch }
export interface TransactionSketch {
  readonly compares: readonly CompareSketch[]
  readonly success: readonly OperationSketch[]
  readonly failure: readonly OperationSketch[]
}

export type Step =
  | { readonly step: 'range'; readonly range: RangeSketch }
  | { readonly step: 'transact'; readonly transaction: TransactionSketch }
  | { readonly step: 'compact'; readonly at: Moment }
  | { readonly step: 'watch'; readonly range: KeyRange; readonly from: Moment }
  | { readonly step: 'unwatch'; readonly which: number }

/** Keys for random requests. The last four sort differently as UTF-16 than as bytes. */
const KEYS = [
  '/',
  '/a/',
  '/a/b/',
  '/b/',
  '/b/c/',
  '/b/d/',
  '/c/',
  '/d/',
  '/\ue000/',
  '/\uffee/',
  '/😀/',
  '/😀a/',
]
const key = fc.constantFrom(...KEYS)

const bounded = fc.record({ key, rangeEnd: key })
const single = fc.record({ key })
const wholeStore = fc.constant({ key: '/', rangeEnd: '0' })
const fromKeyOn = fc.record({ key, rangeEnd: fc.constant('\0') })
const written: fc.Arbitrary<KeyRange> = fc.oneof(
  { weight: 6, arbitrary: single },
  { weight: 3, arbitrary: bounded },
  { weight: 1, arbitrary: wholeStore },
)
const read: fc.Arbitrary<KeyRange> = fc.oneof(written, wholeStore, fromKeyOn)

const moment = (since: Moment['since'], min: number, max: number): fc.Arbitrary<Moment> =>
  fc.record({ since: fc.constant(since), offset: fc.integer({ min, max }) })
const anyMoment = fc.oneof(
  { weight: 6, arbitrary: moment('now', -12, 0) },
  { weight: 2, arbitrary: moment('compaction', -2, 2) },
  { weight: 1, arbitrary: moment('now', 1, 2) },
  { weight: 1, arbitrary: moment('zero', -1, 1) },
)

const range: fc.Arbitrary<RangeSketch> = fc
  .record({
    range: fc.oneof({ weight: 30, arbitrary: read }, { weight: 1, arbitrary: fc.constant({ key: '' }) }),
    options: fc.record(
      {
        revision: anyMoment,
        limit: fc.integer({ min: -1, max: 5 }),
        keysOnly: fc.boolean(),
        countOnly: fc.boolean(),
        serializable: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ range, options }) => ({ ...range, ...options }))

const compare: fc.Arbitrary<CompareSketch> = fc
  .record({
    range: fc.oneof({ weight: 40, arbitrary: read }, { weight: 1, arbitrary: fc.constant({ key: '' }) }),
    target: fc.constantFrom('version', 'modRevision', 'createRevision'),
    is: fc.constantFrom('equal', 'notEqual', 'less', 'greater'),
    value: fc.oneof(moment('zero', 0, 3), moment('now', -6, 1)),
  })
  .map(({ range, ...rest }) => ({ ...range, ...rest }))

const put = fc.record({ kind: fc.constant('put' as const), key, bytes: fc.nat({ max: 40 }) })
const remove = written.map((one) => ({ kind: 'delete' as const, ...one }))
const look = range.map((one) => ({ kind: 'range' as const, ...one }))

function operation(depth: number): fc.Arbitrary<OperationSketch> {
  const plain = [
    { weight: 6, arbitrary: put },
    { weight: 2, arbitrary: remove },
    { weight: 2, arbitrary: look },
  ]
  if (depth === 0) return fc.oneof(...plain)
  const nested = transaction(depth - 1).map((one) => ({ kind: 'transaction' as const, transaction: one }))
  return fc.oneof(...plain, { weight: 5, arbitrary: nested })
}

function transaction(depth: number): fc.Arbitrary<TransactionSketch> {
  return fc.record({
    compares: fc.array(compare, { maxLength: 2 }),
    success: fc.array(operation(depth), { maxLength: 3 }),
    failure: fc.array(operation(depth), { maxLength: 2 }),
  })
}

const unconditionally = (...success: OperationSketch[]): TransactionSketch => ({
  compares: [],
  success,
  failure: [],
})

/** A delete of every key from some key on, without puts, because etcd fails if such a delete and a put share a key. */
const clearFromKeyOn = fromKeyOn.map((one) => unconditionally({ kind: 'delete', ...one }))

/** Transactions at the maximum number of operations. Nested lists and outer lists share this maximum. */
const wide = fc
  .record({
    outer: fc.integer({ min: 60, max: 130 }),
    inner: fc.integer({ min: 0, max: 70 }),
    read: fc.boolean(),
  })
  .map(({ outer, inner, read }) => {
    const many = (count: number, name: string): OperationSketch[] =>
      Array.from({ length: count }, (_, index) =>
        read ? { kind: 'range', key: '/a/' } : { kind: 'put', key: `/${name}/${index}/`, bytes: 1 },
      )
    const nested: OperationSketch = {
      kind: 'transaction',
      transaction: unconditionally(...many(inner, 'in')),
    }
    return unconditionally(...many(outer - 1, 'out'), inner === 0 ? { kind: 'delete', key: '/x/' } : nested)
  })

/** Requests with sizes around etcd's limits of a log entry and of a message. */
const large = fc
  .record({
    bytes: fc.constantFrom(1_572_700, 1_573_000, 2_097_000, 2_097_300),
    twice: fc.boolean(),
  })
  .map(({ bytes, twice }) => {
    const one: OperationSketch = { kind: 'put', key: '/large/', bytes }
    return unconditionally(one, ...(twice ? [{ ...one, bytes: 1 }] : []))
  })

export const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 200, arbitrary: range.map((one): Step => ({ step: 'range', range: one })) },
  { weight: 500, arbitrary: transaction(2).map(transactStep) },
  { weight: 10, arbitrary: clearFromKeyOn.map(transactStep) },
  { weight: 8, arbitrary: wide.map(transactStep) },
  { weight: 4, arbitrary: large.map(transactStep) },
  { weight: 8, arbitrary: compactionMoments().map((at): Step => ({ step: 'compact', at })) },
  {
    weight: 25,
    arbitrary: fc.record({ step: fc.constant('watch' as const), range: read, from: anyMoment }),
  },
  { weight: 8, arbitrary: fc.record({ step: fc.constant('unwatch' as const), which: fc.nat({ max: 20 }) }) },
)

function transactStep(transaction: TransactionSketch): Step {
  return { step: 'transact', transaction }
}

function compactionMoments(): fc.Arbitrary<Moment> {
  return fc.oneof(moment('now', -20, 1), moment('compaction', -1, 1))
}
