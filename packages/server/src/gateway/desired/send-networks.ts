// The networks in the messages to a node: all of them in a complete set, the changed ones in a delta. An agent without
// the capability is sent none.

import { type Complete, capabilitiesOf, type Delta, isNetworkId, NETWORKS } from '@holdfast/contract'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { Session } from '../session/session.ts'
import type { NetworkIndex } from './network-index.ts'

type ReadStore = Pick<GatewayContext['store'], 'get'>

const isAble = (store: ReadStore, { tenant, nodeId }: Session): boolean =>
  capabilitiesOf(store.get(inTenant(tenant, nodes, nodeId))?.record.agent).includes(NETWORKS)

export const allNetworks = (
  store: ReadStore,
  index: NetworkIndex,
  session: Session,
): Pick<Complete, 'networks'> => (isAble(store, session) ? { networks: index.networksOf(session) } : {})

export function changedNetworks(
  store: ReadStore,
  index: NetworkIndex,
  session: Session,
  changed: ReadonlySet<string>,
): Pick<Delta, 'networks' | 'goneNetworks'> {
  const ids = [...changed].filter((id) => isNetworkId(id))
  if (ids.length === 0 || !isAble(store, session)) return {}
  const networks = ids.flatMap((id) => index.networkOf(session, id) ?? [])
  const goneNetworks = ids.filter((id) => index.networkOf(session, id) === undefined)
  return {
    ...(networks.length === 0 ? {} : { networks }),
    ...(goneNetworks.length === 0 ? {} : { goneNetworks }),
  }
}
