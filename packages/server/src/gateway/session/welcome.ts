// What a session begins with: its epoch, and what of the node's role its agent has to keep to. SAFETY 4e, 2 row 30.

import type { ServerMessage } from '@holdfast/contract'
import { nodes, tenants } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { OpenedSession } from './session.ts'

/** Once the cache has what opened the session. What cannot be read is not said: then the agent keeps to what it knows. */
export function welcomeOf(
  { store, times }: GatewayContext,
  { tenant, nodeId, epoch }: OpenedSession,
): ServerMessage {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const owner = store.get(globally(tenants, tenant))?.record
  return {
    ...{ type: 'welcome', session: epoch, tenant, heartbeatMs: times.heartbeatMs },
    ...(node === undefined ? {} : { controlPlane: node.controlPlane }),
    ...(owner === undefined ? {} : { platform: owner.platform }),
  }
}
