// Describes why a node was picked: the ranking criteria of pick-node.ts in which the node differs from the other nodes
// that fit. A plan needs a description for every replica, so the describer is updated replica by replica and checks only
// the changed node again.

import type { Capacity, NodeId } from '@holdfast/contract'
import { firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { quota } from './filters/quota.ts'
import { freeShare, type HeldNode, holdNode } from './held-node.ts'
import { labelOf } from './labels.ts'

export interface PickDescriber {
  /** Why the scheduler picked the node `chosen` for the next replica. */
  describe(chosen: NodeId): string
  /**
   * Must be called after a replica of the deployment was added to a node (1) or removed from it (-1). `unnamed`: the
   * replica uses capacity but spread ignores it, as for a replica that leaves once its successor is ready. `resources` are
   * those of the workload unless the replica requests others.
   */
  count(nodeId: NodeId, by: 1 | -1, unnamed?: boolean, resources?: Capacity): void
}

interface Ranked {
  readonly node: HeldNode
  readonly group: string | undefined
  accepts: boolean
  share: number
}

interface HeldFacts extends TenantFacts {
  readonly nodes: readonly HeldNode[]
}

interface Describing {
  readonly workload: Workload
  readonly facts: HeldFacts
  readonly ranked: ReadonlyMap<NodeId, Ranked>
  /** Maps each spread group of nodes to the number of replicas of the deployment. */
  readonly crowd: Map<string | undefined, number>
}

/** All filters except the quota, which gives the same answer for every node and so distinguishes none. */
const NODE_FILTERS = PLACEMENT_FILTERS.filter((filter) => filter !== quota)

export function createPickDescriber(workload: Workload, { nodes, containers }: TenantFacts): PickDescriber {
  const held = nodes.map((node) => holdNode(node, 0))
  const ownOn = ({ replicas }: NodeFacts) => replicas.get(workload.name) ?? 0
  const own = { total: held.reduce((sum, node) => sum + ownOn(node), 0) }
  // Filters ask only whether the deployment itself runs on any node, so `runs` answers for that deployment alone.
  const facts = { nodes: held, containers, runs: () => own.total > 0 }
  const ranked = rankedOf(workload, facts)
  const crowd: Describing['crowd'] = new Map()
  for (const { node, group } of ranked.values()) crowd.set(group, (crowd.get(group) ?? 0) + ownOn(node))
  const describing: Describing = { workload, facts, ranked, crowd }
  return {
    describe: (chosen) => describePick(describing, chosen),
    count(nodeId, by, unnamed = false, resources = workload.resources) {
      const known = ranked.get(nodeId)
      if (known === undefined) return
      const ran = own.total > 0
      enter(describing, known, by, { unnamed, resources })
      if (!unnamed) own.total += by
      // With affinity to itself, the first replica of a deployment rules out all other nodes, so all nodes are checked
      // again.
      for (const each of ran === own.total > 0 ? [known] : ranked.values()) judge(workload, facts, each)
    },
  }
}

function enter(
  { workload: { name }, crowd }: Describing,
  { node, group }: Ranked,
  by: 1 | -1,
  { unnamed, resources }: { readonly unnamed: boolean; readonly resources: Capacity },
): void {
  node.total += by
  node.requested.cpuMillis += by * resources.cpuMillis
  node.requested.memoryBytes += by * resources.memoryBytes
  if (unnamed) return
  crowd.set(group, (crowd.get(group) ?? 0) + by)
  const count = (node.replicas.get(name) ?? 0) + by
  if (count > 0) node.replicas.set(name, count)
  else node.replicas.delete(name)
}

function rankedOf(workload: Workload, facts: HeldFacts): Map<NodeId, Ranked> {
  const spread = workload.placement?.spread
  const groupOf = ({ id, labels }: NodeFacts) => (spread === undefined ? id : labelOf(spread, labels))
  return new Map(
    facts.nodes.map((node) => {
      const ranked = { node, group: groupOf(node), accepts: false, share: 0 }
      judge(workload, facts, ranked)
      return [node.id, ranked]
    }),
  )
}

function judge(workload: Workload, facts: TenantFacts, ranked: Ranked): void {
  ranked.accepts = firstRefusal(NODE_FILTERS, workload, ranked.node, facts) === undefined
  ranked.share = freeShare(ranked.node)
}

function describePick(describing: Describing, chosen: NodeId): string {
  const { ranked, facts } = describing
  const accepting = [...ranked.values()].filter(({ accepts }) => accepts)
  const own = ranked.get(chosen)
  if (own === undefined || !own.accepts) return 'it was the only node that fits'
  if (accepting.length === 1)
    return facts.nodes.length === 1
      ? 'the only node'
      : `the only one of ${facts.nodes.length} nodes that fits`
  const reasons = decidingRanks(describing, own, accepting)
  const among = `of ${accepting.length} nodes that fit`
  return reasons.length === 0
    ? `${among} and rank the same, the first by id`
    : `${among}: ${reasons.join(', then ')}`
}

/** Describes only ranking criteria that ruled out nodes. Each criterion compares nodes that no earlier one ruled out. */
function decidingRanks(
  { workload: { name, placement }, crowd }: Describing,
  own: Ranked,
  accepting: readonly Ranked[],
): string[] {
  const reasons: string[] = []
  let equals = accepting
  const rank = (measure: (each: Ranked) => number, text: (value: number) => string): void => {
    const value = measure(own)
    const left = equals.filter((each) => measure(each) === value)
    if (left.length < equals.length) reasons.push(text(value))
    equals = left
  }
  if (placement?.spread !== undefined)
    rank(
      ({ group }) => crowd.get(group) ?? 0,
      (count) =>
        `${placement.spread} ${own.group ?? '(without the label)'} has the fewest replicas of ${name} (${count})`,
    )
  rank(
    ({ node }) => node.replicas.get(name) ?? 0,
    (count) => `the fewest replicas of ${name} (${count})`,
  )
  rank(
    ({ share }) => share,
    (share) => `the most free capacity (${percent(share)})`,
  )
  return reasons
}

const percent = (share: number): string => `${Math.max(0, Math.floor(share * 100))} %`
