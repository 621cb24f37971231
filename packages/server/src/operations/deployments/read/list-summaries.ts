// GET /deployments?view=summary: the facts of each deployment that a table shows. Lists are filtered and sorted here, so
// that a client needs one page of ten thousand.

import { type DeploymentRecord, type DeploymentSummary, ownerOf, type TenantId } from '@holdfast/contract'
import { deployments, nodes, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { Outcome } from '../../caller.ts'
import { listPage, mapPage, type Page } from '../../page.ts'
import { isListed, type ListQuery, rankOf, type Sortable, sortKey } from '../../short-list.ts'
import { deploymentView } from './deployment-view.ts'

const WORST_FIRST = ['Degraded', 'Pending', 'Waiting', 'Progressing', 'Deleting'] as const

/** Full records. Unless the status decides which records are listed or in which order, only those of the page are derived. */
export async function listFiltered(
  store: Store,
  tenant: TenantId,
  query: ListQuery,
): Promise<Outcome<Page<DeploymentRecord>>> {
  const named = (): StoredDeployment[] =>
    store
      .list(deployments, tenant)
      .map(({ record }) => record)
      .filter(({ spec: { name } }) => isListed({ name, phase: query.phase ?? '' }, query))
  const view = (record: StoredDeployment): DeploymentRecord => deploymentView(store, tenant, record)
  if (query.phase !== undefined || query.sort === 'worst') {
    const find = () =>
      named()
        .map(view)
        .filter((record) => isListed(sortable(record), query))
    return listPage(store, query, find, (record) => sortKey(sortable(record), query))
  }
  return mapPage(await listPage(store, query, named, (record) => storedKey(record, query)), view)
}

const sortable = ({ name, status, updatedAt }: DeploymentRecord): Sortable => ({
  name,
  phase: status.phase,
  rank: rankOf(status.phase, WORST_FIRST),
  changedAt: updatedAt,
})

const storedKey = ({ spec: { name }, updatedAt }: StoredDeployment, query: ListQuery): string =>
  sortKey({ name, phase: '', rank: 0, changedAt: updatedAt }, query)

export async function listSummaries(
  store: Store,
  tenant: TenantId,
  query: ListQuery,
): Promise<Outcome<Page<DeploymentSummary>>> {
  const page = await listFiltered(store, tenant, query)
  return mapPage(page, (record) => summaryOf(store, tenant, record))
}

function summaryOf(store: Store, tenant: TenantId, record: DeploymentRecord): DeploymentSummary {
  const { name, uid, status, revision, image, updatedAt } = record
  const { phase, reason, message, replicas, runningRevision } = status
  const placement = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record
  const ids = new Set((placement?.assignments ?? []).map(({ nodeId }) => nodeId))
  const names = [...ids].map((id) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id)
  const shown = { name, uid, phase, reason, message, replicas, revision, runningRevision, image }
  return { ...shown, nodes: names.toSorted(), updatedAt }
}
