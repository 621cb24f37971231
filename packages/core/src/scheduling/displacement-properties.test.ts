// Tests residency with random clusters and label changes: no replica is ever assigned to a node that residency forbids,
// and in the end no replica is left on such a node. The tests define residency demands independently of the filters.

import type { Assignment, NodeId } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryResidency, arbitraryStanding } from './arbitrary.fixture.ts'
import {
  aCluster,
  type Cluster,
  type Deployed,
  settle,
  tenantFacts,
  type Wanted,
} from './displacement.fixture.ts'
import type { NodeFacts, Workload } from './facts.ts'
import type { Stand } from './residency.ts'
import { aNode, naivePick, nodeIdOf } from './scheduling.fixture.ts'

const SEED = 20_261_115
const NODES = 5

type Change =
  | ({ readonly kind: 'labels'; readonly at: number } & Stand)
  | { readonly kind: 'status'; readonly at: number; readonly status: NodeFacts['status'] }
  | { readonly kind: 'cordon'; readonly at: number; readonly schedulable: boolean }
  | { readonly kind: 'ill'; readonly at: number; readonly ill: boolean }
  | { readonly kind: 'demand'; readonly at: number; readonly residency: Workload['residency'] }

const at = fc.nat(NODES - 1)
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(at, arbitraryStanding).map(([index, { labels, hiddenCountry }]) => ({
      kind: 'labels' as const,
      at: index,
      labels,
      hiddenCountry,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status'),
      at,
      status: fc.constantFrom('ready', 'unreachable'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cordon'), at, schedulable: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ill'), at, ill: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('demand'), at, residency: arbitraryResidency }) },
)

const zone = (...values: string[]) => [{ label: 'zone', operator: 'in' as const, values }]
const placement: fc.Arbitrary<Workload['placement']> = fc.constantFrom(
  ...[undefined, undefined, undefined, { constraints: zone('a', 'b') }, { spread: 'zone' }],
)

const wanted = (number: number): fc.Arbitrary<Wanted> =>
  fc.record({
    workload: fc.record({
      name: fc.constant(`app-${number}`),
      resources: fc.constantFrom({ cpuMillis: 0, memoryBytes: 0 }, { cpuMillis: 1500, memoryBytes: 0 }),
      placement: placement.map((given) =>
        number === 1 ? given : { ...given, antiAffinity: [`app-${number}`] },
      ),
      nodeId: fc.constant(undefined),
      residency: arbitraryResidency,
      ofPlatform: fc.constant(false),
      needs: fc.constant([]),
    }),
    replicas: fc.integer({ min: 1, max: 3 }),
    order: fc.constantFrom('start-first', 'start-first', 'stop-first'),
  })

const clusters = fc.record({
  nodes: fc
    .array(arbitraryStanding, { minLength: 2, maxLength: NODES })
    .map((all) => all.map((stands, index) => aNode(index + 1, stands))),
  containers: fc.record({ used: fc.constant(0), limit: fc.constantFrom(2, 5, 100, 100) }),
})

function make(cluster: Cluster, each: Change): void {
  const node = cluster.nodes.get(nodeIdOf(each.at + 1))
  const deployed = cluster.deployments[each.at % cluster.deployments.length]
  if (deployed === undefined) return
  if (each.kind === 'demand') deployed.workload = { ...deployed.workload, residency: each.residency }
  else if (each.kind === 'ill') deployed.ill = each.ill
  else if (node !== undefined) {
    const { at: _at, kind: _kind, ...parts } = each
    cluster.nodes.set(node.id, { ...node, ...parts })
  }
}

/** Whether residency allows a deployment on a node, written independently of the filters. */
function allows({ residency }: Workload, node: NodeFacts | undefined): boolean {
  const labels = new Map(Object.entries(node?.labels ?? {}))
  const [country, region] = [labels.get('holdfast.io/country'), labels.get('holdfast.io/geo-region')]
  const covered = new Set(residency?.regionCountries)
  if (residency?.country !== undefined && residency.country !== country) return false
  if (residency?.region !== undefined && residency.region !== region && !covered.has(country ?? ''))
    return false
  return !new Set(residency?.blockedCountries).has(country ?? node?.hiddenCountry ?? '')
}

const running = ({ placed }: Deployed): Assignment[] =>
  placed.assignments.filter(({ desired }) => desired === 'running')
const nodesOf = (deployed: Deployed): NodeId[] => running(deployed).map(({ nodeId }) => nodeId)

test(`no replica is where its deployment may not be (seed ${SEED})`, { timeout: 600_000 }, () => {
  const seen: Seen = { assigned: 0, moved: 0, stopped: 0, notEnforced: 0, stranded: 0 }
  const deployments = fc.tuple(wanted(1), wanted(2))
  const changes = fc.array(change, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(clusters, deployments, changes, (facts, desired, made) => {
      const cluster = aCluster(facts, desired)
      const settled = () => {
        settle(cluster, (deployed, added) => {
          seen.assigned += added.length
          if (deployed.workload.residency?.enforced === false) expect(added).toEqual([])
          for (const { nodeId } of added)
            expect(allows(deployed.workload, cluster.nodes.get(nodeId))).toBe(true)
        })
        for (const deployed of cluster.deployments) expectSettled(cluster, deployed, seen)
      }
      settled()
      for (const each of made) {
        make(cluster, each)
        const before = cluster.deployments.map(nodesOf)
        settled()
        cluster.deployments.forEach((deployed, index) => {
          const lost = (before[index]?.length ?? 0) - nodesOf(deployed).length
          if (lost > 0) seen.stopped += lost
          else if (String(before[index]) !== String(nodesOf(deployed))) seen.moved += 1
        })
      }
    }),
    { numRuns: inRun(2_000, 10_000), seed: SEED },
  )
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(inRun(10, 50))
})

type Seen = {
  -readonly [kind in 'assigned' | 'moved' | 'stopped' | 'notEnforced' | 'stranded']: number
}

/**
 * Checks where the replicas of a deployment end. While residency is enforced, residency allows each replica's node. A
 * replica is on a node that violates a label constraint only if no other node accepts it, or if its move is stuck.
 */
function expectSettled(cluster: Cluster, deployed: Deployed, seen: Seen): void {
  const { workload } = deployed
  for (const id of nodesOf(deployed)) {
    const node = cluster.nodes.get(id)
    const allowed = allows(workload, node)
    if (workload.residency?.enforced === false) seen.notEnforced += allowed ? 0 : 1
    else expect(allowed).toBe(true)
    if (!breaksConstraint(workload, node)) continue
    if (isStuck(cluster, deployed)) continue
    seen.stranded += 1
    expect(naivePick(workload, tenantFacts(cluster))).toBeUndefined()
  }
}

/** Whether a move is stuck: the successor never becomes ready, or no agent reports the predecessor as gone. */
function isStuck({ observed }: Cluster, { placed }: Deployed): boolean {
  return placed.assignments.some(
    ({ id, desired }) => desired === 'removed' || observed.get(id)?.state !== 'ready',
  )
}

function breaksConstraint({ placement }: Workload, node: NodeFacts | undefined): boolean {
  const labels = new Map(Object.entries(node?.labels ?? {}))
  return (placement?.constraints ?? []).some(({ label, operator, values = [] }) => {
    const listed = values.includes(labels.get(label) ?? '(absent)')
    return { in: !listed, notIn: listed, exists: !labels.has(label), notExists: labels.has(label) }[operator]
  })
}
