// Plans the networks of a node: which ones the agent creates, recreates and removes on its engine. A network is
// identified by its labels alone; networks without them, or of another tenant, are never changed.
// See docs/design/networks.md#networks-on-the-engine

import {
  type DesiredNetwork,
  isNetworkId,
  type NetworkId,
  type NetworkOptions,
  type TenantId,
} from '@holdfast/contract'
import { NETWORK_LABEL, TENANT_LABEL } from './container-labels.ts'

/** A network of the engine, Holdfast's or not. */
export interface FoundNetwork {
  readonly engineId: string
  readonly name: string
  readonly internal: boolean
  readonly labels: { readonly [key: string]: string }
}

/** The name of a network on the engine. It begins with a part of the tenant's id, which is unique enough for people. */
export const engineNetworkName = (tenant: TenantId, name: string): string =>
  `hf-${tenant.slice(0, 8)}-${name}`

/** The labels of a network on the engine. Holdfast's labels override the tenant's own, so no user can forge them. */
export const networkLabels = (
  tenant: TenantId,
  { id, options }: Pick<DesiredNetwork, 'id' | 'options'>,
): { readonly [key: string]: string } => ({
  ...options.labels,
  [TENANT_LABEL]: tenant,
  [NETWORK_LABEL]: id,
})

export type NetworkStep =
  | { readonly kind: 'present'; readonly id: NetworkId; readonly found: FoundNetwork }
  | { readonly kind: 'create'; readonly id: NetworkId; readonly options: NetworkOptions }
  /** Another network has the name. It is not Holdfast's, so nothing is done. */
  | { readonly kind: 'blocked'; readonly id: NetworkId }
  /** Containers of this node still need the network, so it stays for now. */
  | { readonly kind: 'wait'; readonly id: NetworkId }
  /** `isLast`: afterwards the node has no network with this id. */
  | {
      readonly kind: 'remove'
      readonly id: NetworkId
      readonly found: readonly FoundNetwork[]
      readonly isLast: boolean
    }
  | { readonly kind: 'removed'; readonly id: NetworkId }

export interface NetworkPlanInput {
  readonly tenant: TenantId
  readonly desired: readonly DesiredNetwork[]
  readonly found: readonly FoundNetwork[]
  /** The names of networks that desired containers of this node join. */
  readonly needed: ReadonlySet<string>
  /** Whether `desired` has every network of the node; otherwise an unknown network may be desired. */
  readonly isComplete: boolean
}

export function planNetworks(input: NetworkPlanInput): NetworkStep[] {
  const { tenant, desired, found, needed } = input
  const own = groupOwn(found, tenant)
  const leftovers = findLeftovers(input, own)
  const removals = leftovers.map(
    ([id, mine]): NetworkStep => ({ kind: 'remove', id, found: mine, isLast: true }),
  )
  // A leftover of an earlier enrollment may have the name of a desired network, so it goes first.
  const others = found.filter((network) => !leftovers.some(([, mine]) => mine.includes(network)))
  const steps = desired.flatMap((network) => {
    const mine = own.get(network.id) ?? []
    return network.desired === 'present'
      ? keep(tenant, network, mine, others)
      : [end(network, mine, needed.has(network.options.name))]
  })
  return [...removals, ...steps]
}

type OwnNetworks = ReadonlyMap<NetworkId, readonly FoundNetwork[]>

/**
 * The tenant's networks that the complete set does not name, for example of an earlier enrollment of the machine. A network
 * stays while desired containers join its name, unless another desired network has that name.
 */
function findLeftovers({ tenant, desired, needed, isComplete }: NetworkPlanInput, own: OwnNetworks) {
  if (!isComplete) return []
  const known = new Set<string>(desired.map(({ id }) => id))
  const present = new Set(
    desired.filter((each) => each.desired === 'present').map(({ options }) => options.name),
  )
  const used = [...needed].filter((name) => !present.has(name)).map((name) => engineNetworkName(tenant, name))
  return [...own].filter(([id, mine]) => !known.has(id) && !mine.some(({ name }) => used.includes(name)))
}

function groupOwn(found: readonly FoundNetwork[], tenant: TenantId): Map<NetworkId, FoundNetwork[]> {
  const own = new Map<NetworkId, FoundNetwork[]>()
  for (const network of found) {
    const id = network.labels[NETWORK_LABEL] ?? ''
    if (network.labels[TENANT_LABEL] !== tenant || !isNetworkId(id)) continue
    own.set(id, [...(own.get(id) ?? []), network])
  }
  return own
}

/** Older engines can create two networks with one name at the same moment; all but the first are removed. */
function keep(
  tenant: TenantId,
  { id, options }: DesiredNetwork,
  mine: readonly FoundNetwork[],
  all: readonly FoundNetwork[],
): NetworkStep[] {
  const name = engineNetworkName(tenant, options.name)
  const right = mine.find((network) => network.name === name && network.internal === options.internal)
  const wrong = mine.filter((network) => network !== right)
  const removals: NetworkStep[] =
    wrong.length === 0 ? [] : [{ kind: 'remove', id, found: wrong, isLast: false }]
  if (right !== undefined) return [...removals, { kind: 'present', id, found: right }]
  const isTaken = all.some((network) => network.name === name && !mine.includes(network))
  return [...removals, isTaken ? { kind: 'blocked', id } : { kind: 'create', id, options }]
}

function end({ id }: DesiredNetwork, mine: readonly FoundNetwork[], isNeeded: boolean): NetworkStep {
  if (mine.length === 0) return { kind: 'removed', id }
  return isNeeded ? { kind: 'wait', id } : { kind: 'remove', id, found: mine, isLast: true }
}
