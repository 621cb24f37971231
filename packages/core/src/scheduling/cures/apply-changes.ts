// What is so once a change is done: the same facts with that one thing otherwise. Nobody else's doing is foreseen. What
// requests the replicas of another deployment have is not among the facts, so one that comes or goes takes or frees none.

import { type Change, type ChangeKind, type Constraint, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { NodeFacts, ResidencyWish, TenantFacts, Workload } from '../facts.ts'
import { residencyLabels } from '../residency.ts'

/** A node that a replica is to go to, with all that is asked about it. */
export interface Situation {
  readonly workload: Workload
  readonly node: NodeFacts
  readonly facts: TenantFacts
}

/** What changes are made of: a change without its sentence. */
export type Step = Omit<Change, 'text'>

/** Copies, to be changed in place: of thousands of nodes each is copied once, however much of it changes. */
interface Draft {
  readonly workload: { -readonly [key in keyof Workload]: Workload[key] }
  readonly node: { -readonly [key in keyof NodeFacts]: NodeFacts[key] }
  readonly containers: { -readonly [key in keyof TenantFacts['containers']]: number }
}

export function applyChange(change: Step, situation: Situation): Situation {
  const { workload, node, containers } = applySteps(draftOf(situation), [change])
  const nodes = situation.facts.nodes.map((each) => (each.id === node.id ? node : each))
  return { workload, node, facts: { nodes, containers } }
}

export function draftOf({ workload, node, facts: { containers } }: Situation): Draft {
  const { used, limit } = containers
  return { workload: { ...workload }, node: { ...node }, containers: { used, limit } }
}

/** One after the other, to the draft itself. */
export function applySteps(draft: Draft, steps: readonly Step[]): Draft {
  for (const step of steps) APPLIED[step.kind](draft, step)
  return draft
}

const APPLIED: { readonly [kind in ChangeKind]: (draft: Draft, change: Step) => void } = {
  make_ready({ node }) {
    node.status = 'ready'
  },
  uncordon({ node }) {
    node.schedulable = true
  },
  set_label: ({ node }, { label, value }) => setLabel(node, label, value),
  attest_label({ node }, { label, value }) {
    if (label === NODE_COUNTRY && value !== undefined) node.attested = { ...node.attested, country: value }
    if (label === NODE_REGION && value !== undefined) node.attested = { ...node.attested, region: value }
    setLabel(node, label, value)
  },
  free({ node }, { resources: { cpuMillis = 0, memoryBytes = 0 } = {} }) {
    const { requested } = node
    node.requested = {
      cpuMillis: requested.cpuMillis - cpuMillis,
      memoryBytes: requested.memoryBytes - memoryBytes,
    }
  },
  /** It is one container more of the tenant. */
  place_beside({ node, containers }, { deployment = '' }) {
    node.replicas = new Map(node.replicas).set(deployment, (node.replicas.get(deployment) ?? 0) + 1)
    containers.used += 1
  },
  move_away({ node }, { deployment = '' }) {
    const replicas = new Map(node.replicas)
    replicas.delete(deployment)
    node.replicas = replicas
  },
  name_node({ workload }, { nodeId }) {
    workload.nodeId = nodeId
  },
  change_constraint({ workload }, { constraint }) {
    const { constraints = [], ...rest } = workload.placement ?? {}
    workload.placement = { ...rest, constraints: constraints.filter(isNot(constraint)) }
  },
  change_affinity({ workload }, { deployment }) {
    const { affinity = [], ...rest } = workload.placement ?? {}
    workload.placement = { ...rest, affinity: affinity.filter((name) => name !== deployment) }
  },
  change_anti_affinity({ workload }, { deployment }) {
    const { antiAffinity = [], ...rest } = workload.placement ?? {}
    workload.placement = { ...rest, antiAffinity: antiAffinity.filter((name) => name !== deployment) }
  },
  change_residency({ workload }, change) {
    workload.residency = relaxed(change, workload.residency)
  },
  lower_request({ workload }, { resources }) {
    const { cpuMillis, memoryBytes } = workload.resources
    workload.resources = {
      cpuMillis: resources?.cpuMillis ?? cpuMillis,
      memoryBytes: resources?.memoryBytes ?? memoryBytes,
    }
  },
  raise_quota({ containers }, { limit }) {
    containers.limit = limit ?? containers.limit
  },
  enforce_residency({ workload }) {
    workload.residency = workload.residency && { ...workload.residency, enforced: true }
  },
}

function setLabel(node: Draft['node'], label: string | undefined, value: string | undefined): void {
  if (label === undefined) return
  if (value !== undefined) node.labels = { ...node.labels, [label]: value }
  else {
    const { [label]: _before, ...labels } = node.labels
    node.labels = labels
  }
}

function isNot(constraint: Constraint | undefined): (other: Constraint) => boolean {
  const text = constraint === undefined ? '' : constraintKey(constraint)
  return (other) => constraintKey(other) !== text
}

/** One that is written twice is one. */
export function constraintKey(constraint: Constraint): string {
  const known = keys.get(constraint)
  if (known !== undefined) return known
  const { label, operator, values = [] } = constraint
  const key = JSON.stringify([label, operator, values])
  keys.set(constraint, key)
  return key
}

/** Asked for each of thousands of nodes, of specs that are never changed in place. */
const keys = new WeakMap<Constraint, string>()

/** A block that demands nothing any more is no demand. */
function relaxed({ demand, value }: Step, wish: ResidencyWish | undefined): ResidencyWish | undefined {
  if (wish === undefined || demand === undefined) return wish
  const { [demand]: _before, ...others } = wish
  const rest: ResidencyWish =
    demand === 'blockedCountries'
      ? { ...others, blockedCountries: (wish.blockedCountries ?? []).filter((country) => country !== value) }
      : { ...others, ...(demand === 'region' ? { regionCountries: [] } : {}) }
  return Object.keys(residencyLabels(rest)).length === 0 ? undefined : rest
}
