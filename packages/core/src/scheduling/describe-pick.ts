// Why this node and no other, in words: the ranks by which pick-node.ts chose it, as far as they told it from the others.
// DECISIONS 4 (spread), PERFORMANCE 2.4.

import type { NodeId } from '@holdfast/contract'
import { firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { labelOf } from './filters/label-constraint.ts'
import { freeShare, holdNode } from './held-node.ts'

interface Ranked {
  readonly node: NodeFacts
  readonly group: string | undefined
  /** Replicas of the deployment in the group, and on the node; both count down to the best. */
  readonly inGroup: number
  readonly onNode: number
  readonly share: number
}

/** `facts` are those that it was chosen on, without the replicas that make way for successors. */
export function describePick(workload: Workload, facts: TenantFacts, chosen: NodeId): string {
  const ranked = rankedNodes(workload, facts)
  const own = ranked.find(({ node }) => node.id === chosen)
  if (own === undefined) return 'it was the one that accepted it'
  if (ranked.length === 1)
    return facts.nodes.length === 1
      ? 'the only node'
      : `the only one of ${facts.nodes.length} that accepts it`
  const reasons = decidingRanks(workload, own, ranked)
  const among = `of ${ranked.length} that accept it`
  return reasons.length === 0 ? `${among} all alike, the first by id` : `${among}: ${reasons.join(', then ')}`
}

function rankedNodes({ name, placement, ...rest }: Workload, facts: TenantFacts): Ranked[] {
  const workload = { name, placement, ...rest }
  const spread = placement?.spread
  const groupOf = ({ id, labels }: NodeFacts) => (spread === undefined ? id : labelOf(spread, labels))
  const crowd = new Map<string | undefined, number>()
  for (const node of facts.nodes)
    crowd.set(groupOf(node), (crowd.get(groupOf(node)) ?? 0) + (node.replicas.get(name) ?? 0))
  return facts.nodes
    .filter((node) => firstRefusal(PLACEMENT_FILTERS, workload, node, facts) === undefined)
    .map((node) => ({
      ...{ node, group: groupOf(node), inGroup: crowd.get(groupOf(node)) ?? 0 },
      onNode: node.replicas.get(name) ?? 0,
      share: freeShare(holdNode(node, 0)),
    }))
}

/** Only what left some behind is said: each rank is asked of those that were equal in the ranks before it. */
function decidingRanks({ name, placement }: Workload, own: Ranked, ranked: readonly Ranked[]): string[] {
  const reasons: string[] = []
  let equals = ranked
  const rank = (text: string, isEqual: (other: Ranked) => boolean): void => {
    const left = equals.filter(isEqual)
    if (left.length < equals.length) reasons.push(text)
    equals = left
  }
  if (placement?.spread !== undefined)
    rank(
      `${placement.spread} ${own.group ?? '(without the label)'} has the fewest replicas of ${name} (${own.inGroup})`,
      ({ inGroup }) => inGroup === own.inGroup,
    )
  rank(`the fewest replicas of ${name} (${own.onNode})`, ({ onNode }) => onNode === own.onNode)
  rank(`the most room (${percent(own.share)} free)`, ({ share }) => share === own.share)
  return reasons
}

const percent = (share: number): string => `${Math.max(0, Math.floor(share * 100))} %`
