// Gathers the facts for the forecast of a primary's death, and returns it with the names of nodes.

import type { NodeId, PrimaryDeath, TenantId } from '@holdfast/contract'
import { copyText, forecastText, ifPrimaryDies } from '@holdfast/core'
import { nodes, type StoredVolume } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { VolumeDeps } from '../deps.ts'
import { namesOfNodes } from '../volume-view.ts'
import { promotionGroup } from './promotion-group.ts'

export type ForecastDeps = Pick<VolumeDeps, 'store' | 'clock' | 'residency' | 'measurements' | 'promotions'>

/** Undefined for a volume without a primary. */
export async function forecastVolume(
  { store, clock, residency, measurements, promotions }: ForecastDeps,
  tenant: TenantId,
  volume: StoredVolume,
): Promise<PrimaryDeath | undefined> {
  const { primary } = volume
  if (primary === null) return undefined
  const read: Parameters<typeof promotionGroup>[0]['read'] = (address) => store.get(address)?.record
  const members = promotionGroup({ store, residency, read, now: clock.now() }, tenant, volume)
  const group = members.map((member) => member.volume)
  const measured = await measurements.measure(tenant, group)
  const isReady = (nodeId: NodeId): boolean => read(inTenant(tenant, nodes, nodeId))?.status === 'ready'
  const { continues, copies } = ifPrimaryDies({
    members,
    limits: promotions.limits,
    isReady,
    ageOf(id, nodeId) {
      const found = group.find((one) => one.id === id)
      return found && measured(found)?.replicas?.find((one) => one.nodeId === nodeId)?.age
    },
  })
  const nameOf = namesOfNodes(store, tenant)
  const shown = { nodeId: primary.nodeId, isSilent: !isReady(primary.nodeId) }
  return {
    nodeId: continues?.nodeId ?? null,
    nodeName: continues === undefined ? null : nameOf(continues.nodeId),
    dataAge: continues?.ageSeconds ?? null,
    message: forecastText({ continues, copies }, shown, nameOf),
    copies: copies.map((copy) => ({
      nodeId: copy.nodeId,
      nodeName: nameOf(copy.nodeId),
      obstacle: copy.obstacle,
      message: copyText(copy, nameOf, shown),
    })),
  }
}
