// A node no longer qualifies for the replicas on it: whether by its labels or by what is asked of them, which label, what is
// required and what the node reports, and what becomes of each replica. Told when it is decided, once for each replica. SPEC 2.7 and 6, DECISIONS 7.

import { type Assignment, isJsonObject, type Json, type NodeId, type Refusal } from '@holdfast/contract'
import { mayStayForNow } from '@holdfast/core'
import type { Decision } from './decision.ts'
import { DISPLACED_AT_ONCE } from './find-displaced.ts'
import type { NodeName, Told } from './rollout-events-texts.ts'

export function displacedByLabels(decision: Decision, nodeName: NodeName): Told[] {
  const events = { moved: [] as Told[], staying: [] as Told[] }
  const { before, displacement } = decision
  const reason = before?.metDemands === displacement.demands ? 'labels_changed' : 'demands_changed'
  for (const [nodeId, refusal] of displacement.refusals) {
    const fates = fatesOn(decision, nodeId, nodeName)
    const stays = fates.length > 0 ? [] : staying(decision, nodeId)
    if (fates.length > 0) events.moved.push(told(nodeId, nodeName(nodeId), reason, refusal, fates))
    if (stays.length > 0) events.staying.push(told(nodeId, nodeName(nodeId), reason, refusal, stays))
  }
  // All of them are in the matrix that is told with them, and a transaction holds no more (SAFETY 4a).
  return [...events.moved, ...events.staying.slice(0, DISPLACED_AT_ONCE)]
}

interface Fate {
  readonly replica: number
  /** Null: it has no successor, or none yet. */
  readonly to: string | null
  readonly text: string
}

function told(
  nodeId: NodeId,
  name: string,
  reason: 'labels_changed' | 'demands_changed',
  refusal: Refusal,
  fates: readonly Fate[],
): Told {
  const { filter, required, reported } = refusal
  const quoted = `required ${JSON.stringify(required)}, reported ${JSON.stringify(reported)}`
  return {
    ...{ type: 'deployment.displaced', severity: 'warning', reason },
    message: `Node ${name} no longer qualifies: ${quoted}. ${fates.map(({ text }) => text).join(' ')}`,
    data: {
      ...{ nodeId, nodeName: name, filter, label: labelIn(reported), required, reported },
      replicas: fates.map(({ replica, to }) => ({ replica, to })),
    },
  }
}

/** Every filter that asks for labels reports them by name. */
const labelIn = (reported: Json): string | null =>
  (isJsonObject(reported) ? Object.keys(reported)[0] : undefined) ?? null

/** Those that get a successor by this decision, and those that go by it without one. */
function fatesOn(decision: Decision, nodeId: NodeId, nodeName: NodeName): Fate[] {
  const { before, added, kept, displacement } = decision
  const isHere = (each: Assignment) => each.nodeId === nodeId && each.desired === 'running'
  const barred = displacement.dispositions.get(nodeId) === 'barred'
  return (before?.assignments ?? []).filter(isHere).flatMap(({ id, replica }): Fate[] => {
    const goes = kept.some((each) => each.id === id && each.desired === 'removed')
    const next = added.find((each) => each.replica === replica)
    if (next !== undefined) {
      const to = nodeName(next.nodeId)
      return [{ replica, to, text: `Replica ${replica} gets a successor on ${to}.` }]
    }
    const hasOther = kept.some(
      (each) => each.replica === replica && each.desired === 'running' && each.id !== id,
    )
    if (!goes || hasOther || replica > decision.stored.spec.replicas) return []
    const why = barred
      ? 'may not be there, and is stopped: no other node takes it'
      : 'is stopped first, then replaced'
    return [{ replica, to: null, text: `Replica ${replica} ${why}.` }]
  })
}

/** Told again when a node refuses otherwise than before; lists fold what is the same. */
function staying({ before, next, kept, displacement }: Decision, nodeId: NodeId): Fate[] {
  const isTold = before?.reportedRefusals === next?.reportedRefusals
  const { dispositions, refusals } = displacement
  const refusal = refusals.get(nodeId)
  const isWish = refusal !== undefined && mayStayForNow(refusal)
  if (isTold || dispositions.get(nodeId) !== 'stranded' || !isWish) return []
  return kept
    .filter((each) => each.nodeId === nodeId && each.desired === 'running')
    .map(({ replica }) => ({
      ...{ replica, to: null },
      text: `Replica ${replica} stays until another node takes it.`,
    }))
}
