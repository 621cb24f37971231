// For each filter, the smallest change that ends a refusal by the filter. Filters without an entry have no remedy: the
// tenant can change neither which nodes run the control plane nor another tenant's claim.

import type { Capacity, ChangeKind, FilterName } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { elsewhere } from '../filters/network-node.ts'
import { freeOn, shortOn } from '../filters/resources.ts'
import { memoizeByObject } from '../memoize.ts'
import type { PricedStep } from './cost.ts'

const MAKE_READY: readonly PricedStep[] = [{ kind: 'make_ready', amount: 1 }]
const UNCORDON: readonly PricedStep[] = [{ kind: 'uncordon', amount: 1 }]
const NO_STEPS: readonly PricedStep[] = []
const UPGRADE_AGENT: readonly PricedStep[] = [{ kind: 'upgrade_agent', amount: 1 }]

/** `runs` returns whether any node of the tenant runs a replica of the named deployment. */
type StepsOnNode = (
  workload: Workload,
  node: NodeFacts,
  runs: (name: string) => boolean,
) => readonly PricedStep[]

/**
 * How the changes for a filter are found. `labels`: label-steps.ts finds the changes for all filters on labels together.
 * `tenant`: tenantSteps finds them, once the other steps are known.
 */
export const STEPS: { readonly [filter in FilterName]?: StepsOnNode | 'labels' | 'tenant' } = {
  readiness: () => MAKE_READY,
  cordon: () => UNCORDON,
  agent_version: () => UPGRADE_AGENT,
  named_node: (_workload, { id }) => [{ kind: 'name_node', nodeId: id, amount: 1 }],
  residency_enforcement: 'tenant',
  residency_country: 'labels',
  residency_region: 'labels',
  blocked_country: 'labels',
  label_constraint: 'labels',
  affinity: affinitySteps,
  anti_affinity: antiAffinitySteps,
  resources: resourceSteps,
  // No change makes a node the primary. A violated residency is solved by the steps of the filters on labels.
  volume_primary: () => NO_STEPS,
  network_node: ({ networks = [] }, node) =>
    elsewhere(networks, node).map(({ name }) => ({ kind: 'change_networks', network: name, amount: 1 })),
  quota: 'tenant',
}

/**
 * Changes for affinity: place the other deployment on the node. If that is the deployment itself, or a deployment that
 * its anti-affinity excludes, only a change of the affinity helps.
 */
function affinitySteps(
  { name, placement }: Workload,
  { replicas }: NodeFacts,
  runs: (name: string) => boolean,
) {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  const steps: PricedStep[] = []
  for (const other of distinct(affinity)) {
    if (replicas.has(other) || (other === name && !runs(name))) continue
    const cannotCome = other === name || antiAffinity.includes(other)
    steps.push({ kind: cannotCome ? 'change_affinity' : 'place_beside', deployment: other, amount: 1 })
  }
  return steps
}

/**
 * Changes for anti-affinity. Moving a replica of the deployment itself does not help, because that replica needs another
 * node too.
 */
function antiAffinitySteps({ name, placement }: Workload, { replicas }: NodeFacts) {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  const steps: PricedStep[] = []
  for (const other of distinct(antiAffinity)) {
    const count = replicas.get(other)
    if (count === undefined) continue
    const cannotMove = other === name || affinity.includes(other)
    if (cannotMove) steps.push({ kind: 'change_anti_affinity', deployment: other, amount: 1 })
    else steps.push({ kind: 'move_away', deployment: other, amount: count })
  }
  return steps
}

const distinct = memoizeByObject((names: readonly string[]): readonly string[] => [...new Set(names)])

/**
 * Changes for lacking resources. Freeing capacity does not help on a machine that is too small for the request. If the
 * request has to be lowered for one resource, it is lowered for every resource that is short.
 */
export function resourceSteps({ resources }: Workload, node: NodeFacts): readonly PricedStep[] {
  const short = shortOn(node, resources)
  const isTooLarge = short.some((kind) => resources[kind] > node.capacity[kind])
  const amounts: { -readonly [kind in keyof Capacity]?: number } = {}
  let amount = 0
  for (const kind of short) {
    const request = resources[kind]
    const free = freeOn(node, kind)
    const possible = Math.max(0, free)
    amounts[kind] = isTooLarge ? possible : request - free
    amount += (isTooLarge ? request - possible : request - free) / request
  }
  return [{ kind: isTooLarge ? 'lower_request' : 'free', resources: amounts, amount }]
}

/** Changes of residency enforcement and the quota. The arguments are those after all other changes of a remedy. */
export function tenantSteps(
  { residency }: Workload,
  { used, limit }: TenantFacts['containers'],
): PricedStep[] {
  const steps: PricedStep[] = []
  if (residency?.enforced === false) steps.push({ kind: 'enforce_residency', amount: 1 })
  if (used >= limit) steps.push({ kind: 'raise_quota', limit: used + 1, amount: used + 1 - limit })
  return steps
}

/** The kind of change by which tenantSteps ends a refusal by the filter; undefined if the refusal is about the node. */
export function tenantStepKind(filter: FilterName): ChangeKind | undefined {
  if (filter === 'quota') return 'raise_quota'
  return filter === 'residency_enforcement' ? 'enforce_residency' : undefined
}
