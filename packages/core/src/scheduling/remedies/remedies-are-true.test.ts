// Tests in random clusters, with every filter in use, that a remedy makes its node accept a replica, and that neither a
// part of the remedy nor a cheaper change does.

import { CHANGE_KINDS, type Change, type Cure, defined, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from '../arbitrary.fixture.ts'
import { toCure } from '../candidate-texts.ts'
import { checkCandidates } from '../check-candidates.ts'
import { explainCandidates } from '../explain.ts'
import { explainNodes } from '../explain-nodes.ts'
import type { NodeFacts } from '../facts.ts'
import { PLACEMENT_FILTERS } from '../filters/index.ts'
import { applyChange, type Situation, type Step } from './apply-changes.ts'
import { compareCosts, costOf } from './cost.ts'
import type { Remedy } from './find-remedies.ts'

const SEED = 20261115
const REFUSALS = inRun(2_500, 10_000)
const PATIENCE = { timeout: 240_000 }

const after = (changes: readonly Step[], situation: Situation): Situation =>
  changes.reduce((so, change) => applyChange(change, so), situation)

/** Whether all filters accept the node of a situation. */
function accepts({ workload, node, facts }: Situation): boolean {
  const found = checkCandidates(workload, facts).find(({ nodeId }) => nodeId === node.id)
  return found?.refusals.length === 0
}

interface Refused {
  readonly situation: Situation
  readonly filters: readonly string[]
  /** For each filter that refuses the node, the steps that end the refusal. */
  readonly fixes: readonly (readonly Step[])[]
  readonly cure: (Cure & Pick<Remedy, 'cost'>) | undefined
}

/** Calls `check` for each refused node in `count` random clusters. Returns the number of refused nodes. */
function eachRefused(count: number, check: (refused: Refused) => void): number {
  let seen = 0
  const facts = arbitraryTenant(1, 1, 4)
  fc.assert(
    fc.property(facts, arbitraryWorkload, (tenant, workload) => {
      for (const explained of explainNodes(workload, tenant)) {
        const { nodeId, refusals, fixes, remedy } = explained
        const node = tenant.nodes.find(({ id }) => id === nodeId)
        if (node === undefined || refusals.length === 0) continue
        seen += 1
        const filters = refusals.map(({ filter }) => filter)
        const cure = remedy && { ...toCure(remedy, explained), cost: remedy.cost }
        check({ situation: { workload, node, facts: tenant }, filters, fixes, cure })
      }
    }),
    { numRuns: count, seed: SEED },
  )
  return seen
}

test(
  `a remedy makes its node accept a replica, and no part of it does, nor a smaller amount (seed ${SEED})`,
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
    expect(Math.min(...kinds.values(), ...filters.values())).toBeGreaterThan(inRun(10, 50))
  },
)

/** All proper subsets of a small remedy. Of a large remedy, the subsets that lack one change. */
function partsOf(changes: readonly Change[]): Change[][] {
  if (changes.length > 4) return changes.map((_change, left) => changes.filter((_other, at) => at !== left))
  const parts = changes.reduce<Change[][]>(
    (some, change) => [...some, ...some.map((part) => [...part, change])],
    [[]],
  )
  return parts.filter((part) => part.length < changes.length)
}

/** Copies of a remedy's changes in which one amount is smaller by one. Such a remedy must not help. */
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

/** The filters whose refusals a tenant cannot end by a change of its own. */
const FIXED = ['control_plane_node', 'claims', 'storage', 'engine', 'disk_pressure', 'creation']

test(
  `only control-plane nodes, shared claims, storage and volumes have no remedy (seed ${SEED})`,
  PATIENCE,
  () => {
    eachRefused(REFUSALS / 5, ({ filters, cure, situation: { workload, node } }) => {
      const isElsewhere = workload.volumes?.some(({ primary, isMoving }) => primary !== node.id || isMoving)
      const isFixed = isElsewhere === true || filters.some((filter) => FIXED.includes(filter))
      expect(cure === undefined).toBe(isFixed)
    })
  },
)

test(`no cheaper change helps, nor do two cheaper changes (seed ${SEED})`, PATIENCE, () => {
  const cheaperThan = ({ cost }: Pick<Remedy, 'cost'>, steps: readonly Step[]): boolean =>
    compareCosts(costOf(steps.map((step) => ({ ...step, amount: 0 }))), { ...cost, amount: 0 }) < 0
  eachRefused(REFUSALS / 25, ({ situation, cure }) => {
    if (cure === undefined) return
    const all = everyChange(situation)
    const twos = cure.changes.length < 2 ? [] : all.flatMap((one) => all.map((two) => [one, two]))
    for (const steps of [...all.map((one) => [one]), ...twos])
      if (cheaperThan(cure, steps)) expect(accepts(after(steps, situation))).toBe(false)
  })
})

/** All changes to try, except hiding the location of a machine and moving a replica of the deployment itself. */
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
      { kind: 'upgrade_agent' as const },
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

test(`a remedy sets a location only as attested, and never hides it (seed ${SEED})`, PATIENCE, () => {
  eachRefused(REFUSALS / 5, ({ situation: { node }, cure }) => {
    for (const change of cure?.changes ?? []) if (isOfPlace(change)) expect(isHonest(change, node)).toBe(true)
  })
})

const isOfPlace = ({ label = '' }: Change): boolean => label.startsWith('holdfast.io/')

function isHonest({ kind, label, value }: Change, { attested }: NodeFacts): boolean {
  const known = label === NODE_COUNTRY ? attested.country : attested.region
  return value !== undefined && (kind === 'set_label') === (value === known)
}

test(`the fix of a refusal ends it, and is part of the remedy (seed ${SEED})`, PATIENCE, () => {
  let seen = 0
  eachRefused(REFUSALS / 2, ({ situation, filters, fixes, cure }) => {
    for (const [at, name] of filters.entries()) {
      const steps = fixes[at] ?? []
      expect(steps.length > 0).toBe(![...FIXED, 'volume_primary'].includes(name))
      if (steps.length === 0) continue
      seen += 1
      const { workload, node, facts } = after(steps, situation)
      const filter = PLACEMENT_FILTERS.find((each) => each.name === name)
      expect(filter?.refuse(workload, node, facts)).toBeUndefined()
      if (cure === undefined || name === 'residency_enforcement') continue
      for (const { kind, label, demand } of steps)
        expect(cure.changes).toContainEqual(expect.objectContaining(defined({ kind, label, demand })))
    }
  })
  expect(seen).toBeGreaterThan(REFUSALS)
})

test(`filters without a record fact require the same of all nodes, by code (seed ${SEED})`, PATIENCE, () => {
  fc.assert(
    fc.property(arbitraryTenant(1, 1, 9), arbitraryWorkload, (facts, workload) => {
      const required = new Map<string, string>()
      for (const { name, reportsRecordFact, refuse } of PLACEMENT_FILTERS)
        for (const node of reportsRecordFact ? [] : facts.nodes) {
          const refusal = refuse(workload, node, facts)
          if (refusal === undefined) continue
          const text = JSON.stringify(refusal.required)
          expect(required.get(`${name} ${refusal.code}`) ?? text).toBe(text)
          required.set(`${name} ${refusal.code}`, text)
        }
    }),
    { numRuns: 2_000, seed: SEED },
  )
})

test(`a deployment's remedies are the cheapest of its nodes, in order (seed ${SEED})`, PATIENCE, () => {
  fc.assert(
    fc.property(arbitraryTenant(1, 1, 14), arbitraryWorkload, (facts, workload) => {
      const explained = explainNodes(workload, facts)
      const remedies = explained.flatMap((node) =>
        node.remedy === undefined ? [] : [{ text: toCure(node.remedy, node).text, cost: node.remedy.cost }],
      )
      const { cure: texts, candidates } = explainCandidates(explained)
      expect(candidates.filter(({ cure }) => cure !== undefined)).toHaveLength(remedies.length)
      const costs = texts.flatMap((text) => remedies.find((remedy) => remedy.text === text)?.cost ?? [])
      for (const [at, cost] of costs.entries())
        if (at > 0) expect(compareCosts(costs[at - 1] ?? cost, cost)).toBeLessThanOrEqual(0)
      const [cheapest] = costs
      for (const { cost } of remedies)
        expect(cheapest === undefined ? 1 : compareCosts(cheapest, cost)).toBeLessThanOrEqual(0)
    }),
    { numRuns: 2_000, seed: SEED },
  )
})
