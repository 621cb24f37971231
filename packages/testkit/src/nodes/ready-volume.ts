// Makes a volume Ready, with copies that are current, as the reports of its agents would.

import { asNodeId, asVolumeId, isTenantId } from '@holdfast/contract'
import { type StoredVolume, volumes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { changeRecord } from '../platform/change-record.ts'
import type { Platform } from '../platform/start-platform.ts'

/** Without `primary` the volume keeps the node that the server has chosen. A new primary is a new epoch. */
export async function makeVolumeReady(
  platform: Pick<Platform, 'config'>,
  tenant: string,
  id: string,
  { primary, replicas }: { readonly primary?: string; readonly replicas?: readonly string[] } = {},
): Promise<void> {
  if (!isTenantId(tenant)) throw new TypeError(`no tenant ${tenant}`)
  await changeRecord(platform, inTenant(tenant, volumes, asVolumeId(id)), (volume) => {
    if (volume === undefined) throw new Error(`no volume ${id}`)
    const nodeId = primary ?? volume.primary?.nodeId
    if (nodeId === undefined) throw new Error(`the volume ${id} has no node`)
    const before = volume.copies.filter(({ role }) => role === 'replica').map((copy) => copy.nodeId)
    const copies = [
      { nodeId: asNodeId(nodeId), role: 'primary' as const, state: 'current' as const },
      ...(replicas ?? before).map((other) => ({
        nodeId: asNodeId(other),
        role: 'replica' as const,
        state: 'current' as const,
      })),
    ]
    const isSame = volume.primary?.nodeId === nodeId
    const epoch = isSame ? (volume.primary?.epoch ?? 1) : (volume.primary?.epoch ?? 0) + 1
    const since = new Date().toISOString()
    return {
      ...volume,
      phase: 'Ready' as const,
      reason: null,
      primary: { nodeId: asNodeId(nodeId), epoch, since },
      copies,
    }
  })
}

/** Stores a Ready volume under an id that the test chooses, on a node that does not exist. */
export async function storeReadyVolume(
  platform: Pick<Platform, 'config'>,
  tenant: string,
  id: string,
): Promise<void> {
  if (!isTenantId(tenant)) throw new TypeError(`no tenant ${tenant}`)
  const nodeId = asNodeId('node_01JD0000000000000000000000')
  const since = new Date().toISOString()
  await changeRecord(
    platform,
    inTenant(tenant, volumes, asVolumeId(id)),
    (): StoredVolume => ({
      v: 1,
      id: asVolumeId(id),
      spec: { name: 'data', class: 'replicated', sizeBytes: 2 ** 30, replicas: 0 },
      phase: 'Ready',
      reason: null,
      primary: { nodeId, epoch: 1, since },
      copies: [{ nodeId, role: 'primary', state: 'current' }],
      revision: 1,
      createdAt: since,
      slot: 0,
    }),
  )
}
