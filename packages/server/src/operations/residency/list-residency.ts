// GET /residency: for each deployment what it demands, and where its replicas and the copies of its volumes are.

import {
  NODE_COUNTRY,
  NODE_REGION,
  type NodeId,
  ownerOf,
  type ResidencyDemand,
  type ResidencyEntry,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import { meetsResidency } from '@holdfast/core/residency-report'
import { hiddenCountry } from '../../scheduling/scheduling-facts.ts'
import { deployments, nodes, type StoredDeployment, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'
import type { Outcome } from '../caller.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'

export interface ResidencyDeps {
  readonly store: Store
  readonly residency: ResidencyRules
}

type Place = Omit<ResidencyEntry['replicas'][number], 'replica'>

export async function listResidency(
  deps: ResidencyDeps,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<ResidencyEntry>>> {
  const { store } = deps
  const stored = () => store.list(deployments, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ spec }) => spec.name)
  return mapPage(page, (record) => entryOf(deps, tenant, record))
}

function entryOf(deps: ResidencyDeps, tenant: TenantId, { spec, uid }: StoredDeployment): ResidencyEntry {
  const { store } = deps
  const demand = spec.placement?.residency ?? {}
  const { assignments = [] } = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record ?? {}
  const replicas = assignments.map(({ replica, nodeId }) => ({
    replica,
    ...placeOf(deps, tenant, nodeId, demand),
  }))
  const mounted = new Set((spec.volumes ?? []).map(({ volume }) => volume))
  const copies = [...mounted].flatMap((id) => copiesOf(deps, tenant, id, demand))
  const holds = [...replicas, ...copies].every((place) => place.holds)
  return {
    deployment: spec.name,
    uid,
    demand,
    holds,
    replicas: replicas.toSorted((left, right) => left.replica - right.replica),
    copies,
  }
}

/** A copy must meet the demand of its volume and of the deployment that mounts it. */
function copiesOf(deps: ResidencyDeps, tenant: TenantId, id: string, demand: ResidencyDemand) {
  const volume = deps.store.get(inTenant(tenant, volumes, id))?.record
  if (volume === undefined) return []
  const { name, residency = {} } = volume.spec
  return volume.copies.map(({ nodeId, role }) => {
    const place = placeOf(deps, tenant, nodeId, demand)
    const own = placeOf(deps, tenant, nodeId, residency)
    return { volume: name, volumeId: volume.id, role, ...place, holds: place.holds && own.holds }
  })
}

function placeOf(
  { store, residency }: ResidencyDeps,
  tenant: TenantId,
  nodeId: NodeId,
  demand: ResidencyDemand,
): Place {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const country = node?.labels[NODE_COUNTRY] ?? null
  const stand = node && { labels: node.labels, hiddenCountry: hiddenCountry(node) }
  return {
    nodeId,
    node: node?.name ?? nodeId,
    country,
    region: node?.labels[NODE_REGION] ?? null,
    attested: country !== null && node?.attested.country === country,
    holds: meetsResidency(demand, residency, stand),
  }
}
