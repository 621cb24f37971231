// Tests the placement record that follows a plan: why replicas have no node, which parts of the old record are kept, and
// when a decision is recorded as a new decision.

import { decodeOpen, encodeOpen, type FilterName, integer, object } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { desiredResidency } from '../scheduling/index.ts'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { decidedNext } from './decision-record.ts'
import { shortfallReason } from './next-placement.ts'
import { aPlacement, assigned, NEW, OLD, planOf } from './placement.fixture.ts'

const refusing = (...filters: FilterName[]) => ({
  answer: {
    refusals: filters.map((filter) => ({ filter, code: filter, required: null, reported: null })),
    reasons: filters.join(),
    fixes: [],
    remedy: undefined,
  },
  count: 1,
})
const demand = (enforcement: boolean) => desiredResidency({ country: 'DE' }, { enforcement, regions: {} })

describe('the reason of a shortfall', () => {
  test.each([
    ['no node is enrolled', [], undefined, 'unschedulable'],
    [
      'nodes refuse for several reasons',
      [refusing('resources'), refusing('cordon')],
      undefined,
      'unschedulable',
    ],
    [
      'a node refuses for the quota alone',
      [refusing('quota'), refusing('cordon', 'quota')],
      undefined,
      'quota_reached',
    ],
    ['every node refuses for the quota and more', [refusing('cordon', 'quota')], undefined, 'unschedulable'],
    [
      'no node meets the residency demand',
      [refusing('residency_country')],
      demand(true),
      'residency_no_match',
    ],
    ['the node that meets it is not ready', [refusing('readiness')], demand(true), 'residency_no_match'],
    ['the node that meets it is full', [refusing('resources')], demand(true), 'unschedulable'],
    ['residency is not enforced', [refusing('resources')], demand(false), 'residency_enforcement_off'],
  ] as const)('if %s', (_name, answers, residency, reason) => {
    expect(shortfallReason({ answers: [...answers] }, { residency })).toBe(reason)
  })
})

describe('the next placement record', () => {
  const settled = planOf({ nodes: [{}, {}], placement: aPlacement([assigned(1, 1), assigned(2, 2)]) })

  test('is absent once a deleted deployment has no assignment left', () => {
    expect(planOf({ nodes: [{}], deployment: { deleting: true } }).next).toBeUndefined()
    expect(planOf({ nodes: [{}], spec: { replicas: 0 } }).next).toBeUndefined()
  })

  test('keeps the templates of its assignments and of the good revision only', () => {
    const stale = { stale: { name: 'x' } as never, old: { name: 'web' } as never }
    const { next } = planOf({
      nodes: [{}, {}],
      placement: aPlacement([assigned(1, 1)], { templates: stale }),
      target: NEW,
      spec: { replicas: 1 },
    })
    expect(Object.keys(next?.templates ?? {}).sort()).toEqual(['new', 'old'])
  })

  test('remembers the revision that ran once all of it is ready', () => {
    expect(settled.next?.ranRevision).toBe(1)
    const waiting = planOf({ nodes: [{ schedulable: false }], placement: aPlacement([]) })
    expect(waiting.next?.ranRevision).toBe(1)
    const fresh = planOf({ nodes: [{}] })
    expect(fresh.next?.ranRevision).toBeUndefined()
  })

  test('keeps the hash of the demands that were met until every displaced replica has moved', () => {
    const spec = { replicas: 1, placement: { residency: { country: 'DE' } } }
    const moved = planOf({
      nodes: [{ labels: { 'holdfast.io/country': 'FR' } }, { labels: { 'holdfast.io/country': 'DE' } }],
      placement: aPlacement([assigned(1, 1)], { metDemands: 'before' }),
      spec,
    })
    expect(moved.next?.metDemands).toBe('before')
    const placed = planOf({
      nodes: [{ labels: { 'holdfast.io/country': 'DE' } }],
      placement: aPlacement([assigned(1, 1)], { metDemands: 'before' }),
      spec,
    })
    expect(placed.next?.metDemands).toBe(placed.displacement.demands)
  })

  test('marks the first assignment for good', () => {
    expect(planOf({ nodes: [{}] }).next?.everAssigned).toBe(true)
    expect(planOf({ nodes: [] }).next?.everAssigned).toBe(false)
  })
})

describe('a decision is recorded', () => {
  const last = { number: 4, at: '2026-01-01T00:00:00.000Z', reason: '' }
  const before = aPlacement([assigned(1, 1)], { decided: last })
  const later = '2026-01-01T00:00:01.000Z'
  const decided = (changes: object, reason = '', now = later, added = 0) =>
    decidedNext(
      { before, now },
      { added: Array.from({ length: added }, () => assigned(2, 2)) },
      { ...before, ...changes },
      reason,
    )

  test('once: an equal one keeps its number', () => expect(decided({})).toBe(last))

  test.each([
    ['another reason', {}, 'unschedulable', 0],
    ['a new assignment', {}, '', 1],
    ['another revision', { revision: 2 }, '', 0],
    ['another phase', { reportedPhase: 'Degraded' }, '', 0],
    ['other refusals', { reportedRefusals: 'x' }, '', 0],
    ['another unresolved secret', { reportedSecrets: ['DB: missing'] }, '', 0],
    ['another shortfall', { shortfall: { reason: 'unschedulable', summary: '' } }, '', 0],
  ] as const)('again for %s', (_name, changes, reason, added) => {
    expect(decided(changes, reason, later, added)).toEqual({ number: 5, at: later, reason })
  })

  test('with a later time than the last one, also by a clock that is behind', () => {
    const { at } = decided({ revision: 2 }, '', '2025-12-31T00:00:00.000Z')
    expect(at).toBe('2026-01-01T00:00:00.001Z')
  })

  test('in groups that name every node if its matrix is large', () => {
    const nodes = Array.from({ length: 10_000 }, (_node, at) => ({ schedulable: at % 3 > 0 }))
    const { candidates, groups } =
      planOf({ nodes, spec: { nodeId: nodeIdOf(20_000) } }).recordedMatrix() ?? {}
    expect(candidates).toEqual([])
    expect(groups?.map(({ count, nodes: { length } }) => [count, length])).toEqual([
      [6_666, 6_666],
      [3_334, 3_334],
    ])
    expect(JSON.stringify(groups).length).toBeLessThan(256 * 1024)
  })

  test('with no candidates if nothing is refused', () => {
    const plan = planOf({ nodes: [{}, {}], target: OLD })
    expect(plan.recordedMatrix()).toEqual({ candidates: [] })
  })
})

test('the next record and its templates keep members of a newer version', () => {
  const newer: object = decodeOpen(object({ v: integer() }), { v: 1, newer: 'kept' })
  const assignment = assigned(1, 1)
  const templates = { [assignment.templateHash]: newer } as never
  const { next } = planOf({
    nodes: [{}],
    placement: { ...newer, ...aPlacement([assignment], { templates }) },
  })
  expect(encodeOpen(next).match(/"newer":"kept"/g)).toHaveLength(2)
})
