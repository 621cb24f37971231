// Makes an enrolled node ready, with a storage pool, as the first session of its agent would.

import { isNodeId, isTenantId } from '@holdfast/contract'
import { connectEtcd } from '@holdfast/server/connect-engines'
import { nodes } from '@holdfast/server/store/records'
import { openStore } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import pino from 'pino'
import type { Platform } from '../platform/start-platform.ts'

export async function givePool(
  { config }: Pick<Platform, 'config'>,
  tenant: string,
  nodeId: string,
  poolBytes: number,
): Promise<void> {
  if (!isTenantId(tenant) || !isNodeId(nodeId)) throw new TypeError(`no node ${nodeId} of ${tenant}`)
  const address = inTenant(tenant, nodes, nodeId)
  const engine = connectEtcd(config, pino({ level: 'silent' }))
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable: () => {} })
  try {
    await store.transact<void>((transaction) => {
      const node = transaction.get(address)
      if (node === undefined) throw new Error(`no node ${nodeId}`)
      transaction.put(address, { ...node, status: 'ready', storage: { poolBytes, usedBytes: 0 } })
      return { kind: 'commit', result: undefined }
    })
  } finally {
    store.close()
    engine.close()
  }
}
