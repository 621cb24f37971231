// Tests placement in random clusters: no placement uses another tenant's node, overcommits a node or violates a filter;
// every replica that fits is placed; fast and full filtering agree; an updated scheduling view equals a new one. The
// tests define each filter's demands independently, so that a fault in a filter is detected.

import type { FilterName, NodeId } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryNode, arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import { checkCandidates, firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { naivePick } from './scheduling.fixture.ts'
import { createSchedulingView, type Placing, placeReplicas, type SchedulingView } from './scheduling-view.ts'

const SEED = 20_261_117
const run = (numRuns: number) => ({ numRuns, seed: SEED })
const PATIENCE = { timeout: 600_000 }
const FOREIGN = 101

type Demands = { readonly [name in FilterName]?: (w: Workload, n: NodeFacts, f: TenantFacts) => boolean }

const reported = ({ labels }: NodeFacts, label: string): string | undefined =>
  new Map(Object.entries(labels)).get(label)

/** Maps the name of a filter to a function that decides whether a node satisfies the filter. */
const DEMANDS: Demands = {
  readiness: (_w, n) => n.status === 'ready',
  engine: (_w, n) => n.faults?.includes('engine_silent') !== true,
  disk_pressure: (_w, n) => n.faults?.includes('disk_pressure') !== true,
  cordon: (_w, n) => n.schedulable,
  control_plane_node: (w, n) => w.ofPlatform || !n.controlPlane || w.returnsTo?.includes(n.id) === true,
  claims: (_w, n) => n.claim === 'sole',
  agent_version: (w, n) =>
    w.needs.every((need) => n.agent?.capabilities?.includes(need) ?? ['limits', 'args'].includes(need)),
  creation: (w, n) => (w.avoids ?? []).every(({ nodeId }) => nodeId !== n.id),
  named_node: (w, n) => [undefined, n.id].includes(w.nodeId),
  residency_enforcement: (w) => w.residency?.enforced !== false,
  residency_country: (w, n) => [undefined, reported(n, 'holdfast.io/country')].includes(w.residency?.country),
  residency_region: (w, n) =>
    w.residency?.region === undefined ||
    reported(n, 'holdfast.io/geo-region') === w.residency.region ||
    w.residency.regionCountries.some((country) => country === reported(n, 'holdfast.io/country')),
  blocked_country: (w, n) =>
    !(w.residency?.blockedCountries ?? []).some(
      (country) => country === (reported(n, 'holdfast.io/country') ?? n.hiddenCountry),
    ),
  label_constraint: (w, n) =>
    !(w.placement?.constraints ?? []).some(({ label, operator, values }) => {
      const has = reported(n, label) !== undefined
      const listed = (values ?? []).includes(reported(n, label) ?? '(absent)')
      return { in: !listed, notIn: listed, exists: !has, notExists: has }[operator]
    }),
  affinity: (w, n, f) =>
    (w.placement?.affinity ?? []).every((name) => {
      const nowhere = f.nodes.every(({ replicas }) => !replicas.has(name))
      return (name === w.name && nowhere) || (n.replicas.get(name) ?? 0) > 0
    }),
  anti_affinity: (w, n) => !(w.placement?.antiAffinity ?? []).some((name) => (n.replicas.get(name) ?? 0) > 0),
  resources: (w, n) =>
    (w.resources.cpuMillis === 0 || n.requested.cpuMillis + w.resources.cpuMillis <= n.capacity.cpuMillis) &&
    (w.resources.memoryBytes === 0 ||
      n.requested.memoryBytes + w.resources.memoryBytes <= n.capacity.memoryBytes),
  volume_primary: (w, n) =>
    (w.volumes ?? []).every(({ primary, isMoving }) => primary === n.id && !isMoving) &&
    ((w.volumes ?? []).length === 0 || w.residency?.enforced !== true || isLocated(w, n)),
  network_node: (w, n) => (w.networks ?? []).every(({ nodeId }) => nodeId === n.id),
  storage: (w, { pool }) =>
    ((w.volumes ?? []).length === 0 || pool !== undefined) &&
    (w.storageBytes === undefined ||
      (pool !== undefined && pool.poolBytes * 0.95 - pool.claimedBytes >= w.storageBytes)),
  quota: (_w, _n, f) => f.containers.limit - f.containers.used >= 1,
}

const isLocated = (w: Workload, n: NodeFacts): boolean =>
  (['residency_country', 'residency_region', 'blocked_country'] as const).every(
    (name) => DEMANDS[name]?.(w, n, { nodes: [], containers: { used: 0, limit: 0 } }) === true,
  )

const broken = (workload: Workload, node: NodeFacts, facts: TenantFacts): string[] =>
  Object.entries(DEMANDS).flatMap(([name, holds]) => (holds(workload, node, facts) ? [] : [name]))

/** Everything about a placement, including the parts that are computed when they are read. */
const shown = ({ placed, unplaced, candidates, cures }: Placing) => ({ placed, unplaced, candidates, cures })

/** A copy of the tenant's facts with one replica added or removed. */
function changed(facts: TenantFacts, id: NodeId, { name, resources }: Workload, by: 1 | -1): TenantFacts {
  const { used, limit } = facts.containers
  return {
    containers: { used: used + by, limit },
    nodes: facts.nodes.map((node) => {
      if (node.id !== id) return node
      const replicas = new Map(node.replicas).set(name, (node.replicas.get(name) ?? 0) + by)
      if (replicas.get(name) === 0) replicas.delete(name)
      const requested = {
        cpuMillis: node.requested.cpuMillis + by * resources.cpuMillis,
        memoryBytes: node.requested.memoryBytes + by * resources.memoryBytes,
      }
      return { ...node, replicas, requested }
    }),
  }
}

test(`every placement is allowed, and an unplaced replica fits nowhere (seed ${SEED})`, PATIENCE, () => {
  const seen = { placed: 0, unplaced: 0 }
  fc.assert(
    fc.property(
      arbitraryTenant(),
      arbitraryWorkload,
      fc.integer({ min: 1, max: 5 }),
      (facts, workload, count) => {
        const { placed, unplaced, candidates } = placeReplicas(workload, count, facts)
        let now = facts
        for (const id of placed) {
          const node = now.nodes.find((each) => each.id === id)
          if (node === undefined) throw new Error(`${id} is not the tenant's`)
          expect(broken(workload, node, now)).toEqual([])
          now = changed(now, id, workload, 1)
        }
        expect(placed.length + unplaced).toBe(count)
        expect(candidates.length).toBe(unplaced > 0 ? facts.nodes.length : 0)
        for (const { nodeId, refusals } of candidates) {
          const expected = now.nodes
            .filter(({ id }) => id === nodeId)
            .map((node) => broken(workload, node, now))
          expect([refusals.map(({ filter }) => filter)]).toEqual(expected)
          expect(refusals.length).toBeGreaterThan(0)
        }
        seen.placed += placed.length
        seen.unplaced += unplaced
      },
    ),
    run(inRun(2_000, 10_000)),
  )
  expect(Math.min(seen.placed, seen.unplaced)).toBeGreaterThan(inRun(1_000, 5_000))
})

test(`no placement uses a node of another tenant (seed ${SEED})`, PATIENCE, () => {
  const both = fc.tuple(arbitraryTenant(), arbitraryTenant(FOREIGN))
  fc.assert(
    fc.property(both, arbitraryWorkload, fc.nat(), ([own, foreign], workload, pick) => {
      const view = createSchedulingView(own)
      createSchedulingView(foreign).place(workload, 2)
      const strangers = foreign.nodes.map(({ id }) => id)
      const nodeId = strangers[pick % Math.max(1, strangers.length)]
      for (const each of [workload, { ...workload, nodeId }]) {
        const { placed, candidates } = view.place(each, 3)
        const named = [...placed, ...candidates.map((candidate) => candidate.nodeId)]
        expect(named.filter((id) => strangers.includes(id))).toEqual([])
      }
      if (nodeId !== undefined) expect(view.place({ ...workload, nodeId }, 1).placed).toEqual([])
    }),
    run(inRun(500, 2_000)),
  )
})

describe(`fast and full filtering agree (seed ${SEED})`, () => {
  test('on each node', PATIENCE, () => {
    fc.assert(
      fc.property(arbitraryTenant(), arbitraryWorkload, (facts, workload) => {
        for (const { nodeId, refusals } of checkCandidates(workload, facts)) {
          const alone = { ...facts, nodes: facts.nodes.filter(({ id }) => id === nodeId) }
          const [node] = alone.nodes
          if (node === undefined) throw new Error('a candidate is a node of the facts')
          expect(firstRefusal(PLACEMENT_FILTERS, workload, node, facts)).toEqual(refusals[0])
          const full = checkCandidates(workload, alone).flatMap((candidate) => candidate.refusals)
          expect(placeReplicas(workload, 1, alone).unplaced).toBe(full.length > 0 ? 1 : 0)
        }
      }),
      run(inRun(1_000, 3_000)),
    )
  })

  test.each([
    ['few nodes', arbitraryTenant(), inRun(1_000, 3_000)],
    ['more nodes than the walk visits', arbitraryTenant(1, 90, 110), inRun(50, 150)],
  ] as const)(
    'on the picked node, as the naive scheduler does, with %s',
    PATIENCE,
    (_about, tenants, runs) => {
      fc.assert(
        fc.property(tenants, arbitraryWorkload, (facts, workload) => {
          const { placed } = placeReplicas(workload, 3, facts)
          let now = facts
          const expected: NodeId[] = []
          for (let replica = 0; replica < 3; replica += 1) {
            const id = naivePick(workload, now)
            if (id === undefined) break
            expected.push(id)
            now = changed(now, id, workload, 1)
          }
          expect(placed).toEqual(expected)
        }),
        run(runs),
      )
    },
  )
})

test(`the order of the nodes changes nothing (seed ${SEED})`, PATIENCE, () => {
  fc.assert(
    fc.property(arbitraryTenant(), arbitraryWorkload, fc.nat(), (facts, workload, turn) => {
      const at = turn % Math.max(1, facts.nodes.length)
      const nodes = [...facts.nodes.slice(at), ...facts.nodes.slice(0, at)].reverse()
      expect(shown(placeReplicas(workload, 3, { ...facts, nodes }))).toEqual(
        shown(placeReplicas(workload, 3, facts)),
      )
    }),
    run(inRun(300, 1_000)),
  )
})

type Step =
  | { readonly kind: 'assign' | 'decide'; readonly workload: Workload }
  | { readonly kind: 'release'; readonly index: number }
  | { readonly kind: 'node'; readonly node: NodeFacts }
  | { readonly kind: 'remove'; readonly id: NodeId }
  | { readonly kind: 'containers'; readonly used: number; readonly limit: number }

const someNode = fc.integer({ min: 1, max: 10 }).chain(arbitraryNode)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('assign', 'assign', 'decide'), workload: arbitraryWorkload }),
  fc.record({ kind: fc.constant('release'), index: fc.nat() }),
  fc.record({ kind: fc.constant('node'), node: someNode }),
  fc.record({ kind: fc.constant('remove'), id: someNode.map(({ id }) => id) }),
  fc.record({ kind: fc.constant('containers'), used: fc.nat(6), limit: fc.constantFrom(6, 100) }),
)

/** A scheduling view together with plain facts that are replaced at each step, for comparison. */
function createModel(facts: TenantFacts, view: SchedulingView) {
  let now = facts
  let assigned: { readonly id: NodeId; readonly workload: Workload }[] = []
  const forget = (gone: NodeId) => {
    assigned = assigned.filter(({ id }) => id !== gone)
    now = { ...now, nodes: now.nodes.filter(({ id }) => id !== gone) }
  }
  const take = (taken: Step): void => {
    switch (taken.kind) {
      case 'decide':
        view.place(taken.workload, 2)
        return
      case 'assign': {
        const { workload } = taken
        const [id] = view.place(workload, 1).placed
        if (id === undefined) return
        view.applyAssigned(id, workload.name, workload.resources)
        assigned.push({ id, workload })
        now = changed(now, id, workload, 1)
        return
      }
      case 'release': {
        const [one] = assigned.splice(taken.index % Math.max(1, assigned.length), 1)
        if (one === undefined) return
        view.applyReleased(one.id, one.workload.name, one.workload.resources)
        now = changed(now, one.id, one.workload, -1)
        return
      }
      case 'node':
        forget(taken.node.id)
        view.setNode(taken.node)
        now = { ...now, nodes: [...now.nodes, taken.node] }
        return
      case 'remove':
        forget(taken.id)
        view.removeNode(taken.id)
        return
      case 'containers':
        now = { ...now, containers: { used: taken.used, limit: taken.limit } }
        view.setContainers(now.containers)
    }
  }
  return { take, facts: () => now }
}

test(`a view that was updated equals a fresh one (seed ${SEED})`, PATIENCE, () => {
  const steps = fc.array(step, { maxLength: 20 })
  const workloads = fc.array(arbitraryWorkload, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(arbitraryTenant(), steps, workloads, (facts, taken, asked) => {
      const view = createSchedulingView(facts)
      const model = createModel(facts, view)
      for (const each of taken) {
        model.take(each)
        for (const workload of asked)
          expect(shown(view.place(workload, 2))).toEqual(shown(placeReplicas(workload, 2, model.facts())))
      }
    }),
    run(inRun(300, 1_000)),
  )
})
