// Computes the scheduling facts after the changes of a remedy. The facts do not include the requests of other
// deployments, so adding or removing a replica of another deployment neither uses nor frees capacity.

import {
  type Change,
  type ChangeKind,
  type Constraint,
  capabilitiesOf,
  NODE_COUNTRY,
  NODE_REGION,
} from '@holdfast/contract'
import type { DesiredResidency, NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { memoizeByObject } from '../memoize.ts'
import { residencyLabels } from '../residency.ts'

/** A workload, a candidate node, and the facts of the tenant. */
export interface Situation {
  readonly workload: Workload
  readonly node: NodeFacts
  readonly facts: TenantFacts
}

/** A change of the tenant or node, without the text that describes it. */
export type Step = Omit<Change, 'text'>

/** Workload, node and tenant facts while steps are applied. A step replaces properties and changes no original object. */
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

/** Applies the steps to the draft in order. The draft is changed in place. */
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
  upgrade_agent(draft) {
    const { agent } = draft.node
    const capabilities = [...capabilitiesOf(agent), ...draft.workload.needs]
    draft.node = { ...draft.node, agent: { version: agent?.version ?? '', capabilities } }
  },
  set_label(draft, { label, value }) {
    draft.node = { ...draft.node, labels: withLabel(draft.node.labels, label, value) }
  },
  attest_label(draft, { label, value }) {
    const labels = withLabel(draft.node.labels, label, value)
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
  /** Places a replica of another deployment on the node, which uses one more container of the quota. */
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
    const { constraints = [], ...others } = draft.workload.placement ?? {}
    const placement = { ...others, constraints: constraints.filter(isNot(constraint)) }
    draft.workload = { ...draft.workload, placement }
  },
  change_affinity(draft, { deployment }) {
    const { affinity = [], ...others } = draft.workload.placement ?? {}
    const placement = { ...others, affinity: affinity.filter((name) => name !== deployment) }
    draft.workload = { ...draft.workload, placement }
  },
  change_anti_affinity(draft, { deployment }) {
    const { antiAffinity = [], ...others } = draft.workload.placement ?? {}
    const placement = { ...others, antiAffinity: antiAffinity.filter((name) => name !== deployment) }
    draft.workload = { ...draft.workload, placement }
  },
  change_networks(draft, { network }) {
    const { networks = [] } = draft.workload
    draft.workload = { ...draft.workload, networks: networks.filter(({ name }) => name !== network) }
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

function withLabel(
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

/** A text that is equal for two constraints that demand the same of a node. */
export const constraintKey = memoizeByObject(({ label, operator, values = [] }: Constraint): string =>
  JSON.stringify([label, operator, values]),
)

/** The residency demands without one demand; undefined once no demand is left. */
function relaxed(
  { demand, value }: Step,
  desired: DesiredResidency | undefined,
): DesiredResidency | undefined {
  if (desired === undefined || demand === undefined) return desired
  const { [demand]: _before, ...others } = desired
  const left: DesiredResidency =
    demand === 'blockedCountries'
      ? {
          ...others,
          blockedCountries: (desired.blockedCountries ?? []).filter((country) => country !== value),
        }
      : { ...others, ...(demand === 'region' ? { regionCountries: [] } : {}) }
  return Object.keys(residencyLabels(left)).length === 0 ? undefined : left
}
