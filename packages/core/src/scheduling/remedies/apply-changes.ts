// What is so once a change is done: the same facts with that one thing otherwise. Nobody else's doing is foreseen. What
// requests the replicas of another deployment have is not among the facts, so one that comes or goes takes or frees none.

import { type Change, type ChangeKind, type Constraint, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { DesiredResidency, NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { rememberedFor } from '../remembered.ts'
import { residencyLabels } from '../residency.ts'

/** A node that a replica is to go to, with all that is asked about it. */
export interface Situation {
  readonly workload: Workload
  readonly node: NodeFacts
  readonly facts: TenantFacts
}

/** What changes are made of: a change without its sentence. */
export type Step = Omit<Change, 'text'>

/** What is so by now; a change puts another one in the place of what it changes, and what was given stays as it is. */
interface Draft {
  workload: Workload
  node: NodeFacts
  containers: TenantFacts['containers']
}

export function applyChange(change: Step, situation: Situation): Situation {
  const { workload, node, containers } = applySteps(
    draftOf(situation.workload, situation.node, situation.facts),
    [change],
  )
  const nodes = situation.facts.nodes.map((each) => (each.id === node.id ? node : each))
  return { workload, node, facts: { nodes, containers } }
}

export const draftOf = (workload: Workload, node: NodeFacts, { containers }: TenantFacts): Draft => ({
  workload,
  node,
  containers,
})

/** One after the other, to the draft itself. */
export function applySteps(draft: Draft, steps: readonly Step[]): Draft {
  for (const step of steps) APPLIED[step.kind](draft, step)
  return draft
}

const APPLIED: { readonly [kind in ChangeKind]: (draft: Draft, change: Step) => void } = {
  make_ready(draft) {
    draft.node = { ...draft.node, status: 'ready' }
  },
  uncordon(draft) {
    draft.node = { ...draft.node, schedulable: true }
  },
  set_label(draft, { label, value }) {
    draft.node = { ...draft.node, labels: labelled(draft.node.labels, label, value) }
  },
  attest_label(draft, { label, value }) {
    const labels = labelled(draft.node.labels, label, value)
    const attested: { country?: string; region?: string } = { ...draft.node.attested }
    if (label === NODE_COUNTRY && value !== undefined) attested.country = value
    if (label === NODE_REGION && value !== undefined) attested.region = value
    draft.node = { ...draft.node, labels, attested }
  },
  free(draft, { resources: { cpuMillis = 0, memoryBytes = 0 } = {} }) {
    const { requested } = draft.node
    const left = {
      cpuMillis: requested.cpuMillis - cpuMillis,
      memoryBytes: requested.memoryBytes - memoryBytes,
    }
    draft.node = { ...draft.node, requested: left }
  },
  /** It is one container more of the tenant. */
  place_beside(draft, { deployment = '' }) {
    const replicas = new Map(draft.node.replicas)
    replicas.set(deployment, (replicas.get(deployment) ?? 0) + 1)
    draft.node = { ...draft.node, replicas }
    draft.containers = { ...draft.containers, used: draft.containers.used + 1 }
  },
  move_away(draft, { deployment = '' }) {
    const replicas = new Map(draft.node.replicas)
    replicas.delete(deployment)
    draft.node = { ...draft.node, replicas }
  },
  name_node(draft, { nodeId }) {
    draft.workload = { ...draft.workload, nodeId }
  },
  change_constraint(draft, { constraint }) {
    const { constraints = [], ...rest } = draft.workload.placement ?? {}
    const placement = { ...rest, constraints: constraints.filter(isNot(constraint)) }
    draft.workload = { ...draft.workload, placement }
  },
  change_affinity(draft, { deployment }) {
    const { affinity = [], ...rest } = draft.workload.placement ?? {}
    const placement = { ...rest, affinity: affinity.filter((name) => name !== deployment) }
    draft.workload = { ...draft.workload, placement }
  },
  change_anti_affinity(draft, { deployment }) {
    const { antiAffinity = [], ...rest } = draft.workload.placement ?? {}
    const placement = { ...rest, antiAffinity: antiAffinity.filter((name) => name !== deployment) }
    draft.workload = { ...draft.workload, placement }
  },
  change_residency(draft, change) {
    draft.workload = { ...draft.workload, residency: relaxed(change, draft.workload.residency) }
  },
  lower_request(draft, { resources = {} }) {
    const { cpuMillis, memoryBytes } = draft.workload.resources
    const lower = {
      cpuMillis: resources.cpuMillis ?? cpuMillis,
      memoryBytes: resources.memoryBytes ?? memoryBytes,
    }
    draft.workload = { ...draft.workload, resources: lower }
  },
  raise_quota(draft, { limit = draft.containers.limit }) {
    draft.containers = { ...draft.containers, limit }
  },
  enforce_residency(draft) {
    const { residency } = draft.workload
    draft.workload = { ...draft.workload, residency: residency && { ...residency, enforced: true } }
  },
}

function labelled(
  labels: NodeFacts['labels'],
  label: string | undefined,
  value: string | undefined,
): NodeFacts['labels'] {
  if (label === undefined) return labels
  if (value !== undefined) return { ...labels, [label]: value }
  const { [label]: _before, ...others } = labels
  return others
}

function isNot(constraint: Constraint | undefined): (other: Constraint) => boolean {
  const text = constraint === undefined ? '' : constraintKey(constraint)
  return (other) => constraintKey(other) !== text
}

/** One that is written twice is one. */
export const constraintKey = rememberedFor(({ label, operator, values = [] }: Constraint): string =>
  JSON.stringify([label, operator, values]),
)

/** A block that demands nothing any more is no demand. */
function relaxed({ demand, value }: Step, wish: DesiredResidency | undefined): DesiredResidency | undefined {
  if (wish === undefined || demand === undefined) return wish
  const { [demand]: _before, ...others } = wish
  const rest: DesiredResidency =
    demand === 'blockedCountries'
      ? { ...others, blockedCountries: (wish.blockedCountries ?? []).filter((country) => country !== value) }
      : { ...others, ...(demand === 'region' ? { regionCountries: [] } : {}) }
  return Object.keys(residencyLabels(rest)).length === 0 ? undefined : rest
}
