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

/** What is so by now; a change puts another one in the place of what it changes, and the rest is never copied. */
interface Draft {
  workload: Workload
  node: NodeFacts
  containers: TenantFacts['containers']
}

export function applyChange(change: Step, situation: Situation): Situation {
  const { workload, node, containers } = applySteps(draftOf(situation), [change])
  const nodes = situation.facts.nodes.map((each) => (each.id === node.id ? node : each))
  return { workload, node, facts: { nodes, containers } }
}

export const draftOf = ({ workload, node, facts: { containers } }: Situation): Draft => ({
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
  make_ready: (draft) => changeNode(draft, { status: 'ready' }),
  uncordon: (draft) => changeNode(draft, { schedulable: true }),
  set_label: (draft, { label, value }) => setLabel(draft, label, value),
  attest_label(draft, { label, value }) {
    const { attested } = draft.node
    if (label === NODE_COUNTRY && value !== undefined)
      changeNode(draft, { attested: { ...attested, country: value } })
    if (label === NODE_REGION && value !== undefined)
      changeNode(draft, { attested: { ...attested, region: value } })
    setLabel(draft, label, value)
  },
  free(draft, { resources: { cpuMillis = 0, memoryBytes = 0 } = {} }) {
    const { requested } = draft.node
    changeNode(draft, {
      requested: {
        cpuMillis: requested.cpuMillis - cpuMillis,
        memoryBytes: requested.memoryBytes - memoryBytes,
      },
    })
  },
  /** It is one container more of the tenant. */
  place_beside(draft, { deployment = '' }) {
    const { replicas } = draft.node
    changeNode(draft, { replicas: new Map(replicas).set(deployment, (replicas.get(deployment) ?? 0) + 1) })
    draft.containers = { ...draft.containers, used: draft.containers.used + 1 }
  },
  move_away(draft, { deployment = '' }) {
    const replicas = new Map(draft.node.replicas)
    replicas.delete(deployment)
    changeNode(draft, { replicas })
  },
  name_node: (draft, { nodeId }) => changeWorkload(draft, { nodeId }),
  change_constraint(draft, { constraint }) {
    const { constraints = [], ...rest } = draft.workload.placement ?? {}
    changeWorkload(draft, { placement: { ...rest, constraints: constraints.filter(isNot(constraint)) } })
  },
  change_affinity(draft, { deployment }) {
    const { affinity = [], ...rest } = draft.workload.placement ?? {}
    changeWorkload(draft, {
      placement: { ...rest, affinity: affinity.filter((name) => name !== deployment) },
    })
  },
  change_anti_affinity(draft, { deployment }) {
    const { antiAffinity = [], ...rest } = draft.workload.placement ?? {}
    changeWorkload(draft, {
      placement: { ...rest, antiAffinity: antiAffinity.filter((name) => name !== deployment) },
    })
  },
  change_residency: (draft, change) =>
    changeWorkload(draft, { residency: relaxed(change, draft.workload.residency) }),
  lower_request(draft, { resources }) {
    const { cpuMillis, memoryBytes } = draft.workload.resources
    changeWorkload(draft, {
      resources: {
        cpuMillis: resources?.cpuMillis ?? cpuMillis,
        memoryBytes: resources?.memoryBytes ?? memoryBytes,
      },
    })
  },
  raise_quota(draft, { limit = draft.containers.limit }) {
    draft.containers = { ...draft.containers, limit }
  },
  enforce_residency(draft) {
    const { residency } = draft.workload
    changeWorkload(draft, { residency: residency && { ...residency, enforced: true } })
  },
}

function changeNode(draft: Draft, changed: Partial<NodeFacts>): void {
  draft.node = { ...draft.node, ...changed }
}

function changeWorkload(draft: Draft, changed: Partial<Workload>): void {
  draft.workload = { ...draft.workload, ...changed }
}

function setLabel(draft: Draft, label: string | undefined, value: string | undefined): void {
  if (label === undefined) return
  const { [label]: _before, ...labels } = draft.node.labels
  changeNode(draft, { labels: value === undefined ? labels : { ...labels, [label]: value } })
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
