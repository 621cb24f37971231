// Indexes the networks that each node must have or remove, from the network records. Updated with each change of a
// record. See docs/design/networks.md#networks-that-agents-are-sent

import { asNetworkId, type DesiredNetwork, type NetworkId, type TenantId } from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { networks, type StoredNetwork, tenants } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { createUnreadable } from './unreadable.ts'

/** Called with a node and a network of it that changed. */
export type OnNetworkChange = (node: NodeAddress, changed: NetworkId) => void

export interface NetworkIndex {
  networkOf(node: NodeAddress, id: NetworkId): DesiredNetwork | undefined
  networksOf(node: NodeAddress): DesiredNetwork[]
  /** False while a network of the tenant cannot be read, because the index may then lack networks. */
  isComplete(tenant: TenantId): boolean
  apply(changes: readonly Change[], onChange: OnNetworkChange): void
}

type IndexStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>
type ByNode = Map<string, Map<NetworkId, DesiredNetwork>>

const keyOf = ({ tenant, nodeId }: NodeAddress): string => `${tenant}/${nodeId}`

export function createNetworkIndex(store: IndexStore): NetworkIndex {
  const byNode: ByNode = new Map()
  const nodeOf = new Map<string, NodeAddress>()
  const unreadable = createUnreadable()

  const update = (tenant: TenantId, id: NetworkId, gone: boolean, onChange: OnNetworkChange): void => {
    const network = gone ? undefined : store.get(inTenant(tenant, networks, id))?.record
    unreadable.note(tenant, id, gone || network !== undefined)
    if (!gone && network === undefined) return
    const known = nodeOf.get(`${tenant}/${id}`)
    if (network === undefined) {
      nodeOf.delete(`${tenant}/${id}`)
      if (known === undefined) return
      set(byNode, known, id, undefined)
      onChange(known, id)
      return
    }
    // A network never changes its node, so only its desired state can change.
    const node = { tenant, nodeId: network.nodeId }
    const before = byNode.get(keyOf(node))?.get(id)
    nodeOf.set(`${tenant}/${id}`, node)
    set(byNode, node, id, desiredNetwork(network))
    if (before?.desired !== network.desired) onChange(node, id)
  }

  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(networks, record.id))
      update(record.id, asNetworkId(id), false, () => {})
  return {
    networkOf: (node, id) => byNode.get(keyOf(node))?.get(id),
    networksOf: (node) => [...(byNode.get(keyOf(node))?.values() ?? [])],
    isComplete: unreadable.isComplete,
    apply(changes, onChange) {
      for (const { kind, key } of changes)
        if (key.folder === networks.folder && key.tenant !== undefined)
          update(key.tenant, asNetworkId(key.id), kind === 'delete', onChange)
    },
  }
}

/** The agent is sent the options that the contract names, and nothing else of the record. */
const desiredNetwork = ({ id, desired, options }: StoredNetwork): DesiredNetwork => {
  const { name, driver, labels, internal } = options
  return { id, desired, options: { name, driver, labels, internal } }
}

function set(byNode: ByNode, node: NodeAddress, id: NetworkId, network: DesiredNetwork | undefined): void {
  const all = byNode.get(keyOf(node)) ?? new Map<NetworkId, DesiredNetwork>()
  if (network === undefined) all.delete(id)
  else all.set(id, network)
  if (all.size === 0) byNode.delete(keyOf(node))
  else byNode.set(keyOf(node), all)
}
