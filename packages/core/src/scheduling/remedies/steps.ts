// For each filter's refusal, the least that somebody can do about it. Filters that are not named here have no cure: the
// control plane's own nodes, and a machine that another tenant still claims.

import type { Capacity, FilterName } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { freeOn, shortOn } from '../filters/resources.ts'
import { rememberedFor } from '../remembered.ts'
import type { PricedStep } from './cost.ts'

const MAKE_READY: readonly PricedStep[] = [{ kind: 'make_ready', amount: 1 }]
const UNCORDON: readonly PricedStep[] = [{ kind: 'uncordon', amount: 1 }]

type Steps = (workload: Workload, node: NodeFacts, runs: (name: string) => boolean) => readonly PricedStep[]

/** `labels`: answered together, by what reads labels. `after`: once the other changes are known. */
export const STEPS: { readonly [filter in FilterName]?: Steps | 'labels' | 'after' } = {
  readiness: () => MAKE_READY,
  cordon: () => UNCORDON,
  named_node: (_workload, { id }) => [{ kind: 'name_node', nodeId: id, amount: 1 }],
  residency_enforcement: 'after',
  residency_country: 'labels',
  residency_region: 'labels',
  blocked_country: 'labels',
  label_constraint: 'labels',
  affinity: joining,
  anti_affinity: parting,
  resources: fitting,
  quota: 'after',
}

/** Nothing can be placed beside itself before it is there, nor beside what it keeps away from. */
function joining({ name, placement }: Workload, { replicas }: NodeFacts, runs: (name: string) => boolean) {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  const steps: PricedStep[] = []
  for (const other of distinct(affinity)) {
    if (replicas.has(other) || (other === name && !runs(name))) continue
    const isOut = other === name || antiAffinity.includes(other)
    steps.push({ kind: isOut ? 'change_affinity' : 'place_beside', deployment: other, amount: 1 })
  }
  return steps
}

/** A replica of its own that moves away needs a node itself: that would be no gain. */
function parting({ name, placement }: Workload, { replicas }: NodeFacts) {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  const steps: PricedStep[] = []
  for (const other of distinct(antiAffinity)) {
    const count = replicas.get(other)
    if (count === undefined) continue
    const isOut = other === name || affinity.includes(other)
    if (isOut) steps.push({ kind: 'change_anti_affinity', deployment: other, amount: 1 })
    else steps.push({ kind: 'move_away', deployment: other, amount: count })
  }
  return steps
}

/** A name that is written twice is one. */
const distinct = rememberedFor((names: readonly string[]): readonly string[] => [...new Set(names)])

/** On a machine that is too small for the request room does not help; and who lowers it at all, lowers all that is short. */
function fitting({ resources }: Workload, node: NodeFacts): PricedStep[] {
  const short = shortOn(node, resources)
  const lowers = short.some((kind) => resources[kind] > node.capacity[kind])
  const named: { -readonly [kind in keyof Capacity]?: number } = {}
  let amount = 0
  for (const kind of short) {
    const [request, free] = [resources[kind], freeOn(node, kind)]
    const most = Math.max(0, free)
    named[kind] = lowers ? most : request - free
    amount += (lowers ? request - most : request - free) / request
  }
  return [{ kind: lowers ? 'lower_request' : 'free', resources: named, amount }]
}

/** What is asked of the tenant and not of the node: it is judged once all else is changed. */
export function stepsAfter(
  { residency }: Workload,
  { used, limit }: TenantFacts['containers'],
): PricedStep[] {
  const steps: PricedStep[] = []
  if (residency?.enforced === false) steps.push({ kind: 'enforce_residency', amount: 1 })
  if (used >= limit) steps.push({ kind: 'raise_quota', limit: used + 1, amount: used + 1 - limit })
  return steps
}
