// Gathers the facts from which the next state of a volume is decided: its nodes, the reports of their agents, and the
// containers that may use it.

import {
  capabilitiesOf,
  type NodeId,
  PROMISES,
  type ResidencyRules,
  type TenantId,
  VOLUMES,
  type VolumeId,
} from '@holdfast/contract'
import { type CopyNode, isResident, placeCopies, type VolumeSituation } from '@holdfast/core'
import { nodeFacts } from '../../scheduling/scheduling-facts.ts'
import { copyReportId, copyReports, nodeNames, nodes, pools, type StoredVolume } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { type Address, globally, inTenant } from '../../store/transaction.ts'
import { claimOf } from '../nodes/claims.ts'
import { isDraining } from '../nodes/drain-node.ts'
import { demandOf, gatherVolumeFacts, withoutLeaving } from './volume-facts.ts'
import { isAnchored, isUsedOn } from './volume-users.ts'

/** Reads one record: from the cache, or through a transaction that compares it at commit. */
export type ReadRecord = <T>(address: Address<T>) => T | undefined

export interface SituationDeps {
  readonly store: Store
  readonly residency: ResidencyRules
  readonly read: ReadRecord
  /** In milliseconds since 1970. */
  readonly now: number
}

export function situationOf(deps: SituationDeps, tenant: TenantId, volume: StoredVolume): VolumeSituation {
  const { store, residency, read, now } = deps
  const { id, spec, primary } = volume
  const nodeId = primary?.nodeId
  return {
    now,
    nodeOf: (node) => copyNode(read, tenant, node),
    reportOf: (node) => read(inTenant(tenant, copyReports, copyReportId(id, node))),
    isResident(node) {
      const found = read(inTenant(tenant, nodes, node))
      const demand = demandOf(store, tenant, spec, residency)
      return found !== undefined && isResident(demand, nodeFacts(store, tenant, found, []))
    },
    place(copies) {
      const isComplete = copies.length > spec.replicas
      const facts = isComplete ? NO_NODES : withoutLeaving(gatherVolumeFacts(store, tenant), volume)
      return placeCopies(demandOf(store, tenant, spec, residency), copies, facts)
    },
    offers: () => offersOf(deps, tenant, id),
    isMounted: () => nodeId !== undefined && isUsedOn(store, tenant, id, nodeId, 'any'),
    isAnchored: () => isAnchored(store, tenant, id),
  }
}

const NO_NODES = { nodes: [], containers: { used: 0, limit: 0 } }

/** A node as volumes depend on it; undefined if it was removed. */
export function copyNode(read: ReadRecord, tenant: TenantId, id: NodeId): CopyNode | undefined {
  const node = read(inTenant(tenant, nodes, id))
  if (node === undefined) return undefined
  const claims = read(globally(nodeNames, node.name))?.claims ?? []
  return {
    status: node.status,
    statusSince: Date.parse(node.statusSince),
    schedulable: node.schedulable,
    isLeaving: isDraining(node) || claimOf(claims, tenant)?.state === 'releasing',
    hasPool: node.storage !== undefined,
    isTooOld: !capabilitiesOf(node.agent).includes(VOLUMES),
    cannotPromise: !capabilitiesOf(node.agent).includes(PROMISES),
  }
}

/** The copies of a volume that the pools of the tenant's nodes offer. */
function offersOf({ store, read }: SituationDeps, tenant: TenantId, id: VolumeId) {
  return store.list(nodes, tenant).flatMap(({ record: { id: nodeId } }) => {
    const { copies = [] } = read(inTenant(tenant, pools, nodeId)) ?? {}
    return copies.filter(({ volume }) => volume === id).map(({ epoch, role }) => ({ nodeId, epoch, role }))
  })
}
