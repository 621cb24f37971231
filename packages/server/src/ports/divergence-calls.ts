// The calls by which data that a node keeps in quarantine is read and deleted. The gateway implements them, through the
// server replica that holds the node's session.

import type { KeptEpoch, NodeId, TenantId } from '@holdfast/contract'
import type { OpenNodeStream } from './node-streams.ts'

export interface DivergenceCalls {
  /** Opens the tar archive of the data. The agent must have the capability `divergences`. */
  readonly openStream: OpenNodeStream
  /**
   * Deletes the data. `deleted` and `absent` are the agent's confirmation that the data is gone. `unconfirmed`: the data may
   * be gone or not. The agent must have the capability `divergences`.
   */
  deleteKept(tenant: TenantId, nodeId: NodeId, kept: KeptEpoch): Promise<'deleted' | 'absent' | 'unconfirmed'>
}

/** The calls of a dry run: no data is deleted. */
export const dryDivergences = (calls: DivergenceCalls): DivergenceCalls => ({
  ...calls,
  deleteKept: async () => 'deleted',
})
