// What is said to help, helps; nothing less does; and nothing cheaper was left unsaid. Random clusters with every filter at
// work, every refused node of them.

import { CHANGE_KINDS, type Change, type Cure, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from '../arbitrary.fixture.ts'
import { checkCandidates } from '../check-candidates.ts'
import { explainCandidates } from '../explain.ts'
import type { NodeFacts } from '../facts.ts'
import { PLACEMENT_FILTERS } from '../filters/index.ts'
import { applyChange, type Situation, type Step } from './apply-changes.ts'
import { compareCosts, costOf } from './cost.ts'
import { cureCandidates, cureText, type FoundCure, toCure } from './find-remedies.ts'

const SEED = 20261115
const REFUSALS = 10_000
const PATIENCE = { timeout: 240_000 }

const after = (changes: readonly Step[], situation: Situation): Situation =>
  changes.reduce((so, change) => applyChange(change, so), situation)

/** Asked of the tenant as it would be, by the filters that decide. */
function accepts({ workload, node, facts }: Situation): boolean {
  const found = checkCandidates(workload, facts).find(({ nodeId }) => nodeId === node.id)
  return found?.refusals.length === 0
}

interface Refused {
  readonly situation: Situation
  readonly filters: readonly string[]
  readonly cure: (Cure & Pick<FoundCure, 'cost'>) | undefined
}

/** Each refused node of `count` and more random ones. */
function eachRefused(count: number, check: (refused: Refused) => void): number {
  let seen = 0
  const facts = arbitraryTenant(1, 1, 4)
  fc.assert(
    fc.property(facts, arbitraryWorkload, (tenant, workload) => {
      const explained = cureCandidates(workload, tenant)
      for (const { nodeId, refusals, cure } of explained) {
        const node = tenant.nodes.find(({ id }) => id === nodeId)
        if (node === undefined || refusals.length === 0) continue
        seen += 1
        const filters = refusals.map(({ filter }) => filter)
        const told = cure && { ...toCure(cure), cost: cure.cost }
        check({ situation: { workload, node, facts: tenant }, filters, cure: told })
      }
    }),
    { numRuns: count, seed: SEED },
  )
  return seen
}

test(
  `a cure makes the node a candidate, and no part of it does, nor less of it (seed ${SEED})`,
  PATIENCE,
  () => {
    const [kinds, filters] = [new Map<string, number>(), new Map<string, number>()]
    const seen = eachRefused(REFUSALS, ({ situation, cure, ...refused }) => {
      for (const filter of refused.filters) filters.set(filter, (filters.get(filter) ?? 0) + 1)
      if (cure === undefined) return
      for (const { kind } of cure.changes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      expect(accepts(after(cure.changes, situation))).toBe(true)
      for (const fewer of partsOf(cure.changes)) expect(accepts(after(fewer, situation))).toBe(false)
      for (const less of lessOf(cure.changes)) expect(accepts(after(less, situation))).toBe(false)
    })
    expect(seen).toBeGreaterThan(REFUSALS)
    expect([...kinds.keys()].sort()).toEqual([...CHANGE_KINDS].sort())
    expect([...filters.keys()].sort()).toEqual(PLACEMENT_FILTERS.map(({ name }) => name).sort())
    expect(Math.min(...kinds.values(), ...filters.values())).toBeGreaterThan(50)
  },
)

/** All proper parts of a small cure; of a large one those that lack one change. */
function partsOf(changes: readonly Change[]): Change[][] {
  if (changes.length > 4) return changes.map((_change, left) => changes.filter((_other, at) => at !== left))
  const parts = changes.reduce<Change[][]>(
    (some, change) => [...some, ...some.map((part) => [...part, change])],
    [[]],
  )
  return parts.filter((part) => part.length < changes.length)
}

/** The same cure with one amount by one smaller. */
function lessOf(changes: readonly Change[]): Change[][] {
  return changes.flatMap((change, at) =>
    smaller(change).map((less) => changes.map((other, index) => (index === at ? less : other))),
  )
}

function smaller(change: Change): Change[] {
  const { kind, limit, resources = {} } = change
  if (kind === 'raise_quota' && limit !== undefined) return [{ ...change, limit: limit - 1 }]
  if (kind !== 'free' && kind !== 'lower_request') return []
  const by = kind === 'free' ? -1 : 1
  return (['cpuMillis', 'memoryBytes'] as const).flatMap((name): Change[] => {
    const amount = resources[name]
    return amount === undefined ? [] : [{ ...change, resources: { ...resources, [name]: amount + by } }]
  })
}

test(`only what nobody can change has no cure (seed ${SEED})`, PATIENCE, () => {
  eachRefused(REFUSALS / 5, ({ filters, cure }) => {
    const isFixed = filters.includes('control_plane_node') || filters.includes('claims')
    expect(cure === undefined).toBe(isFixed)
  })
})

test(`no single change that is cheaper would do, nor two (seed ${SEED})`, PATIENCE, () => {
  const cheaperThan = ({ cost }: Pick<FoundCure, 'cost'>, steps: readonly Step[]): boolean =>
    compareCosts(costOf(steps.map((step) => ({ ...step, amount: 0 }))), { ...cost, amount: 0 }) < 0
  eachRefused(REFUSALS / 25, ({ situation, cure }) => {
    if (cure === undefined) return
    const all = everyChange(situation)
    const twos = cure.changes.length < 2 ? [] : all.flatMap((one) => all.map((two) => [one, two]))
    for (const steps of [...all.map((one) => [one]), ...twos])
      if (cheaperThan(cure, steps)) expect(accepts(after(steps, situation))).toBe(false)
  })
})

/** All that could be done, less what only looks like a cure: to say less of where a machine stands, to move the own replica. */
function everyChange({ workload, node, facts }: Situation): Step[] {
  const { constraints = [], affinity = [], antiAffinity = [] } = workload.placement ?? {}
  const named = [...new Set([...affinity, ...antiAffinity])]
  const others = named.filter((name) => name !== workload.name)
  const { country, region, blockedCountries = [], regionCountries = [] } = workload.residency ?? {}
  const { attested } = node
  const steps: Step[] = [
    ...[
      { kind: 'make_ready' as const },
      { kind: 'uncordon' as const },
      { kind: 'enforce_residency' as const },
    ],
    { kind: 'raise_quota', limit: facts.containers.used + 1 },
    { kind: 'free', resources: node.requested },
    { kind: 'lower_request', resources: { cpuMillis: 0, memoryBytes: 0 } },
    { kind: 'name_node', nodeId: node.id },
    ...others.map((deployment): Step => ({ kind: 'place_beside', deployment })),
    ...others.map((deployment): Step => ({ kind: 'move_away', deployment })),
    ...named.map((deployment): Step => ({ kind: 'change_affinity', deployment })),
    ...named.map((deployment): Step => ({ kind: 'change_anti_affinity', deployment })),
    ...constraints.map((constraint): Step => ({ kind: 'change_constraint', constraint })),
    ...constraints.flatMap(({ label }): Step[] => [
      { kind: 'set_label', label },
      ...['a', 'b', 'c', 'other'].map((value): Step => ({ kind: 'set_label', label, value })),
    ]),
    ...(['country', 'region'] as const).map((demand): Step => ({ kind: 'change_residency', demand })),
    ...blockedCountries.map(
      (value): Step => ({ kind: 'change_residency', demand: 'blockedCountries', value }),
    ),
    ...[country, ...regionCountries].flatMap((value) => placed(NODE_COUNTRY, value, attested.country)),
    ...[attested.country].flatMap((value) => placed(NODE_COUNTRY, value, value)),
    ...[region, attested.region].flatMap((value) => placed(NODE_REGION, value, attested.region)),
  ]
  return steps
}

const placed = (label: string, value: string | undefined, known: string | undefined): Step[] =>
  value === undefined ? [] : [{ kind: value === known ? 'set_label' : 'attest_label', label, value }]

test(`where a machine stands is set only as attested, and never hidden (seed ${SEED})`, PATIENCE, () => {
  eachRefused(REFUSALS / 5, ({ situation: { node }, cure }) => {
    for (const change of cure?.changes ?? []) if (isOfPlace(change)) expect(isHonest(change, node)).toBe(true)
  })
})

const isOfPlace = ({ label = '' }: Change): boolean => label.startsWith('holdfast.io/')

function isHonest({ kind, label, value }: Change, { attested }: NodeFacts): boolean {
  const known = label === NODE_COUNTRY ? attested.country : attested.region
  return value !== undefined && (kind === 'set_label') === (value === known)
}

test(`the deployment's cures are the cheapest of its nodes', in order (seed ${SEED})`, PATIENCE, () => {
  fc.assert(
    fc.property(arbitraryTenant(1, 1, 14), arbitraryWorkload, (facts, workload) => {
      const candidates = cureCandidates(workload, facts)
      const cures = candidates.flatMap(({ cure }) => cure ?? [])
      const { cure: texts, candidates: told } = explainCandidates(candidates)
      expect(told.flatMap(({ cure }): Cure[] => (cure === undefined ? [] : [cure]))).toHaveLength(
        cures.length,
      )
      const costs = texts.flatMap((text) => cures.find((cure) => cureText(cure) === text)?.cost ?? [])
      for (const [at, cost] of costs.entries())
        if (at > 0) expect(compareCosts(costs[at - 1] ?? cost, cost)).toBeLessThanOrEqual(0)
      const [cheapest] = costs
      for (const { cost } of cures)
        expect(cheapest === undefined ? 1 : compareCosts(cheapest, cost)).toBeLessThanOrEqual(0)
    }),
    { numRuns: 2_000, seed: SEED },
  )
})
