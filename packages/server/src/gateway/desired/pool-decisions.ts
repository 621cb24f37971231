// The decisions that an agent is sent about its pool: about the copies that it offered, and the order to delete all data.
// See docs/design/endings.md#offers

import { asVolumeId, type Complete, capabilitiesOf, defined, OFFERS, type VolumeId } from '@holdfast/contract'
import { decideOffers } from '@holdfast/core'
import { markOf, orderFor } from '../../operations/nodes/pools.ts'
import { isInUse } from '../../operations/nodes/release-node.ts'
import { nodes, pools, type StoredPool, volumes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'

/** The word for a change of what is decided about the pool of a node. */
export const POOL = 'pool'

type IndexStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>

export function poolDecisions(
  store: IndexStore,
  { tenant, nodeId }: NodeAddress,
): Pick<Complete, 'offers' | 'wipePool'> {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const pool = store.get(inTenant(tenant, pools, nodeId))?.record
  if (node === undefined || pool === undefined || !capabilitiesOf(node.agent).includes(OFFERS)) return {}
  const wipePool = orderFor(store, tenant, node, () => isInUse(store, tenant, nodeId))
  return { offers: offersOf(store, { tenant, nodeId }, pool), ...defined({ wipePool }) }
}

function offersOf(store: IndexStore, { tenant, nodeId }: NodeAddress, { copies = [], poolId }: StoredPool) {
  const mark = markOf({ get: (address) => store.get(address)?.record }, poolId)
  const known = new Set(mark?.tenant === tenant ? mark.volumes : [])
  const recorded = new Set<VolumeId>(
    copies.length === 0 ? [] : store.keysOf(volumes, tenant).map(({ id }) => asVolumeId(id)),
  )
  return decideOffers(copies, {
    nodeId,
    volumeOf: (id) =>
      recorded.has(id) ? (store.get(inTenant(tenant, volumes, id))?.record ?? 'unreadable') : undefined,
    wasKnown: (id) => known.has(id),
  })
}
