// Finds the node for which a registry credential is sealed. The broker does not trust the request: it reads the records and
// checks that the node pulls an image from the registry.

import { writtenVolumes } from '@holdfast/core/node'
import type { CredentialAsk } from '../ports/broker.ts'
import { findAdmitted } from '../scheduling/find-admitted.ts'
import { nodes, type StoredNode, type StoredPlacement, volumes, volumeWriters } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant, placementAt } from '../store/transaction.ts'
import { findLive } from './live-assignment.ts'

/** Looks up the node in the cache, which must be fresh. Undefined if it has no reason to pull from the registry. */
export function findPuller(store: Pick<Store, 'get'>, ask: CredentialAsk): StoredNode | undefined {
  const { tenant, nodeId, host, owner, assignmentId } = ask
  if (owner === undefined || assignmentId === undefined) return findHolder(store, ask)
  const live = findLive(store, { tenant, nodeId, owner, assignmentId })
  return live?.template.image.startsWith(`${host}/`) ? live.node : undefined
}

/** The node, if it holds a promotable copy of the volume, so that a promotion may start the volume's writers on it. */
function findHolder(
  store: Pick<Store, 'get'>,
  { tenant, nodeId, host, volume }: CredentialAsk,
): StoredNode | undefined {
  if (volume === undefined) return undefined
  const stored = store.get(inTenant(tenant, volumes, volume))?.record
  const writer = store.get(inTenant(tenant, volumeWriters, volume))?.record
  if (writer === undefined || !stored?.promotable?.includes(nodeId)) return undefined
  const placement = store.get(placementAt(tenant, writer.owner))?.record
  if (placement?.owner !== writer.owner || !isAdmitted(store, tenant, placement)) return undefined
  const isPulled = Object.values(placement.templates).some(
    (template) => template.image.startsWith(`${host}/`) && writtenVolumes(template).includes(volume),
  )
  return isPulled ? store.get(inTenant(tenant, nodes, nodeId))?.record : undefined
}

const isAdmitted = (
  store: Pick<Store, 'get'>,
  tenant: CredentialAsk['tenant'],
  placement: StoredPlacement,
): boolean => findAdmitted(store, tenant, placement)?.deleting === false
