// Builds the server's first message of a session: the session's epoch, and the node's role that the agent must enforce.

import { defined, type ServerMessage } from '@holdfast/contract'
import { nodes, tenants } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { OpenedSession } from './session.ts'

/**
 * Builds the welcome. The cache must already contain the session's record. An unreadable role is omitted, and the agent
 * then keeps its last role. `newestAgeMs`: the age of the newest sample of the node's usage that this server replica has.
 */
export function welcomeOf(
  { store, times }: GatewayContext,
  { tenant, nodeId, epoch }: OpenedSession,
  newestAgeMs: number | undefined,
): ServerMessage {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const owner = store.get(globally(tenants, tenant))?.record
  return {
    type: 'welcome',
    session: epoch,
    tenant,
    heartbeatMs: times.heartbeatMs,
    usage: defined({ newestAgeMs }),
    ...defined({ controlPlane: node?.controlPlane, platform: owner?.platform }),
  }
}
