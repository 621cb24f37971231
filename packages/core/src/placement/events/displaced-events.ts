// Events for nodes that no longer qualify for the replicas on them. An event names the label, the required and the
// reported value, and what happens to each replica. Only the plan that decides about a replica emits the event.

import { type Assignment, isJsonObject, type Json, type NodeId } from '@holdfast/contract'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import { mayStayForNow, type NodeRefusal } from '../../scheduling/index.ts'
import { DISPLACED_AT_ONCE } from '../find-displaced.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import type { EventDraft, NodeName } from './event-texts.ts'

export function displacedEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  const moved: EventDraft[] = []
  const staying: EventDraft[] = []
  const { before, displacement } = plan
  const reason = before?.metDemands === displacement.demands ? 'labels_changed' : 'demands_changed'
  for (const [nodeId, refusal] of displacement.refusals) {
    const fates = fatesOn(plan, nodeId, nodeName)
    const stays = fates.length > 0 ? [] : fatesOfStaying(plan, nodeId)
    const node = { nodeId, name: nodeName(nodeId) }
    if (fates.length > 0) moved.push(displacedEvent(node, reason, refusal, fates))
    if (stays.length > 0) staying.push(displacedEvent(node, reason, refusal, stays))
  }
  // Events about staying replicas are limited, because the size of a transaction is limited. The matrix of refusals,
  // which is reported with the events, names all nodes.
  return [...moved, ...staying.slice(0, DISPLACED_AT_ONCE)]
}

/** The outcome for one replica on a node that no longer qualifies. */
interface Fate {
  readonly replica: number
  /** The name of the successor's node; null if the replica has no successor yet. */
  readonly to: string | null
  readonly text: string
}

function displacedEvent(
  { nodeId, name }: { readonly nodeId: NodeId; readonly name: string },
  reason: 'labels_changed' | 'demands_changed',
  refusal: NodeRefusal,
  fates: readonly Fate[],
): EventDraft {
  const { filter, required, reported } = refusal
  return {
    type: 'deployment.displaced',
    severity: 'warning',
    reason,
    message: `Node ${name} no longer qualifies: ${whyOf(refusal)}. ${fates.map(({ text }) => text).join(' ')}`,
    data: {
      nodeId,
      nodeName: name,
      filter,
      label: labelIn(reported),
      required,
      reported,
      replicas: fates.map(({ replica, to }) => ({ replica, to })),
    },
  }
}

/** Ids of volumes and nodes would tell a reader nothing; they are in the data of the event. */
function whyOf({ code, required, reported }: NodeRefusal): string {
  if (code === 'not_the_volume_primary') return 'the primary of a volume that the deployment mounts has moved'
  return `required ${JSON.stringify(required)}, reported ${JSON.stringify(reported)}`
}

/** The name of the label in a refusal. Filters that read labels report the label by name. */
const labelIn = (reported: Json): string | null =>
  (isJsonObject(reported) ? Object.keys(reported)[0] : undefined) ?? null

/**
 * The outcomes for replicas on one node: for those that get a successor by the plan, and for those that the plan stops
 * without a successor.
 */
function fatesOn(plan: PlacementPlan, nodeId: NodeId, nodeName: NodeName): Fate[] {
  const { before, added, kept, displacement, deployment } = plan
  const isHere = (each: Assignment) => each.nodeId === nodeId && each.desired === 'running'
  const isBarred = displacement.dispositions.get(nodeId) === 'barred'
  return (before?.assignments ?? []).filter(isHere).flatMap(({ id, replica }): Fate[] => {
    const isStopped = kept.some((each) => each.id === id && each.desired === 'removed')
    const successor = added.find((each) => each.replica === replica)
    if (successor !== undefined) {
      const to = nodeName(successor.nodeId)
      return [{ replica, to, text: `Replica ${replica} gets a successor on ${to}.` }]
    }
    const hasOther = kept.some(
      (each) => each.replica === replica && each.desired === 'running' && each.id !== id,
    )
    if (!isStopped || hasOther || replica > desiredReplicas(deployment)) return []
    const why = isBarred
      ? 'must not run there and is stopped: no other node accepts it'
      : 'is stopped first, then replaced'
    return [{ replica, to: null, text: `Replica ${replica} ${why}.` }]
  })
}

/**
 * The outcomes for displaced replicas that stay on one node. Events with these outcomes are emitted again whenever the
 * refusals change; event lists fold equal events.
 */
function fatesOfStaying({ before, next, kept, displacement }: PlacementPlan, nodeId: NodeId): Fate[] {
  const isReported = before?.reportedRefusals === next?.reportedRefusals
  const { dispositions, refusals } = displacement
  const refusal = refusals.get(nodeId)
  const mayStay = refusal !== undefined && mayStayForNow(refusal)
  if (isReported || dispositions.get(nodeId) !== 'stranded' || !mayStay) return []
  return kept
    .filter((each) => each.nodeId === nodeId && each.desired === 'running')
    .map(({ replica }) => ({
      replica,
      to: null,
      text: `Replica ${replica} stays until another node accepts it.`,
    }))
}
