// Makes an enrolled node ready, with a storage pool, as the first session of its agent would.

import { AGENT_CAPABILITIES, isNodeId, isTenantId, VERSION } from '@holdfast/contract'
import { nodes, type StoredNode } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { changeRecord } from '../platform/change-record.ts'
import type { Platform } from '../platform/start-platform.ts'

export async function givePool(
  platform: Pick<Platform, 'config'>,
  tenant: string,
  nodeId: string,
  poolBytes: number,
): Promise<void> {
  if (!isTenantId(tenant) || !isNodeId(nodeId)) throw new TypeError(`no node ${nodeId} of ${tenant}`)
  const agent = { version: VERSION, capabilities: [...AGENT_CAPABILITIES] }
  await changeRecord(platform, inTenant(tenant, nodes, nodeId), (node): StoredNode => {
    if (node === undefined) throw new Error(`no node ${nodeId}`)
    return { ...node, agent, status: 'ready', storage: { poolBytes, usedBytes: 0 } }
  })
}
