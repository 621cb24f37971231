// A stored volume as its tenant sees it, with the names of its nodes, its consumers and the newest measurement.

import {
  isFinalPhase,
  type Measurement,
  type NodeId,
  type TenantId,
  type Volume,
  type VolumeId,
} from '@holdfast/contract'
import {
  copyReportId,
  copyReports,
  deployments,
  jobs,
  nodes,
  type StoredCopyReport,
  type StoredVolume,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { claimedSpec } from '../deployments/canary/end-canary.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/** Reads the names of nodes; the id stands for a node that is gone. */
export const namesOfNodes =
  (store: Pick<Store, 'get'>, tenant: TenantId) =>
  (nodeId: NodeId): string =>
    store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId

/** Without a measurement, the bytes in use and the ages of the copies are null. */
export function volumeView(
  store: ReadStore,
  tenant: TenantId,
  stored: StoredVolume,
  measured?: Measurement,
): Volume {
  const { id, spec, phase, reason, primary, copies, promotions = [], revision, createdAt } = stored
  const nameOf = namesOfNodes(store, tenant)
  const reportOf = reportsOf(store, tenant, stored)
  return {
    id,
    ...spec,
    phase,
    reason,
    primary: primary && { ...primary, nodeName: nameOf(primary.nodeId) },
    copies: copies.map(({ nodeId, role, state }) => ({
      nodeId,
      role,
      state,
      nodeName: nameOf(nodeId),
      ...progressOf(measured, nodeId),
      ...promiseOf(stored, nodeId, reportOf(nodeId)),
    })),
    fencedSince: (primary && reportOf(primary.nodeId)?.fencedSince) ?? null,
    promotions: promotions.map((one) => ({ ...one, fromName: nameOf(one.from), toName: nameOf(one.to) })),
    usedBytes: measured?.usedBytes ?? null,
    measuredAt: measured?.measuredAt ?? null,
    consumers: consumersOf(store, tenant, id),
    createdAt,
    revision,
  }
}

/** The reports of the present epoch. */
const reportsOf =
  (store: Pick<Store, 'get'>, tenant: TenantId, { id, primary }: StoredVolume) =>
  (nodeId: NodeId): StoredCopyReport | undefined => {
    const report = store.get(inTenant(tenant, copyReports, copyReportId(id, nodeId)))?.record
    return report?.epoch === primary?.epoch ? report : undefined
  }

function promiseOf(
  { promotable = [] }: StoredVolume,
  nodeId: NodeId,
  report: StoredCopyReport | undefined,
): Pick<Volume['copies'][number], 'promotable' | 'promise'> {
  if (!promotable.includes(nodeId)) return { promotable: false, promise: null }
  return { promotable: true, promise: report?.isPromiseExpired === true ? 'expired' : 'promised' }
}

/** The checkpoint that a replica has acknowledged to the primary. */
function progressOf(
  measured: Measurement | undefined,
  nodeId: NodeId,
): Pick<Volume['copies'][number], 'checkpoint' | 'checkpointAge'> {
  const found = measured?.replicas?.find((replica) => replica.nodeId === nodeId)
  return {
    checkpoint: found?.checkpoint?.number ?? null,
    checkpointAge: found?.age ?? null,
  }
}

/**
 * The names of the deployments that mount a volume, themselves or in a running canary, whatever their number of replicas,
 * and of jobs before their end.
 */
function consumersOf(store: Pick<Store, 'list'>, tenant: TenantId, id: VolumeId): string[] {
  const unfinished = store.list(jobs, tenant).filter(({ record }) => !isFinalPhase(record.phase))
  const claimed = store.list(deployments, tenant).map(({ record }) => claimedSpec(record))
  const names = [...claimed, ...unfinished.map(({ record }) => record.spec)]
    .filter(({ volumes }) => volumes?.some(({ volume }) => volume === id))
    .map(({ name }) => name)
  return [...new Set(names)].sort()
}
