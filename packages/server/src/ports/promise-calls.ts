// The calls by which a controller learns whether a primary is silent and what its copies promised. The gateway implements
// them, through the server replica that holds the node's session.

import type { AskedVolume, NodeId, PromiseAnswer, TenantId } from '@holdfast/contract'

export interface PromiseCalls {
  /**
   * Asks an agent about its copies (`promises`) or for its votes (`prepare`), within three seconds. A volume that is not in
   * the answer is unknown, not absent. At most CALL_VOLUMES volumes.
   */
  askPromises(
    tenant: TenantId,
    nodeId: NodeId,
    method: 'promises' | 'prepare',
    volumes: readonly AskedVolume[],
  ): Promise<readonly PromiseAnswer[] | 'unreachable'>
  /**
   * Whether no server replica has heard the node for the configured time. A server replica that does not answer has heard
   * nothing only if it has not answered for that time, so ask again every few seconds.
   */
  isSilent(tenant: TenantId, nodeId: NodeId): Promise<boolean>
}
