// Gathers the scheduler's input from stored records: the tenant's nodes with their assigned replicas, and the workload of
// a deployment. Controllers update this input with each change; an explanation gathers it once.

import {
  type Assignment,
  type Capacity,
  defined,
  deploymentUidOf,
  type NodeId,
  type Owner,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import {
  desiredResidency,
  faultsOf,
  type MountedVolume,
  type NamedNetwork,
  type NodeFacts,
  neededCapabilities,
  type ReplicaRequests,
  requestedBy,
  type TenantFacts,
  type Workload,
} from '@holdfast/core'
import type { Quotas } from '../quotas/quotas.ts'
import {
  networkNames,
  networks,
  nodeNames,
  nodes,
  placements,
  platform,
  type StoredDeployment,
  type StoredNode,
  type StoredPlacement,
  volumes,
} from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'
import { findAdmitted } from './find-admitted.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/** The resources that one assignment uses on its node, until its container is confirmed gone. */
export interface AssignedWork {
  readonly owner: Owner
  /** The name that affinity rules compare; see `countedName`. */
  readonly name: string
  readonly resources: Capacity
}

export const NOTHING: Capacity = { cpuMillis: 0, memoryBytes: 0 }

export function nodeFacts(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  node: StoredNode,
  assigned: Iterable<AssignedWork>,
): NodeFacts {
  const replicas = new Map<string, number>()
  const requested = { ...NOTHING }
  for (const { name, resources } of assigned) {
    replicas.set(name, (replicas.get(name) ?? 0) + 1)
    requested.cpuMillis += resources.cpuMillis
    requested.memoryBytes += resources.memoryBytes
  }
  const { id, name, status, schedulable, controlPlane, labels, attested, capacity, agent, storage } = node
  const claim = claimOn(store, tenant, node)
  const known = { id, name, status, schedulable, controlPlane, labels, attested, capacity, agent }
  // Consumers of volumes need the pool and claim nothing of it; the claims are facts for placing volumes only.
  const pool = storage && { poolBytes: storage.poolBytes, claimedBytes: 0, fault: storage.fault }
  const found = faultsOf(node).map(({ reason }) => reason)
  const faults = found.length === 0 ? undefined : found
  return { ...known, hiddenCountry: hiddenCountry(node), claim, requested, replicas, pool, faults }
}

/** The country that a node's join token attested, if the node advertised labels that were refused. */
export const hiddenCountry = ({ refusedMark, attested }: StoredNode): string | undefined =>
  refusedMark === undefined ? undefined : attested.country

/** The tenant's claim on a machine. A machine without a known claim is treated as being released. */
function claimOn(store: Pick<Store, 'get'>, tenant: TenantId, { id, name }: StoredNode): NodeFacts['claim'] {
  const claims = store.get(globally(nodeNames, name))?.record.claims ?? []
  const own = claims.find((claim) => claim.tenant === tenant && claim.nodeId === id)
  if (own?.state !== 'active') return 'releasing'
  return claims.length > 1 ? 'shared' : 'sole'
}

export function workloadOf(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  spec: StoredDeployment['spec'],
  rules: ResidencyRules,
): Workload {
  const { name, resources, placement, nodeId } = spec
  const ofPlatform = store.get(globally(platform, 'id'))?.record.tenant === tenant
  const residency = desiredResidency(placement?.residency, rules)
  const volumesOf = mountedVolumes(store, tenant, spec)
  const networksOf = namedNetworks(store, tenant, spec)
  return {
    ...{ name, resources, placement, nodeId, residency, ofPlatform, needs: neededCapabilities(spec) },
    ...(volumesOf.length === 0 ? {} : { volumes: volumesOf }),
    ...(networksOf.length === 0 ? {} : { networks: networksOf }),
  }
}

/** The networks that a deployment names. A network without a record has no node. */
function namedNetworks(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { networks: names = [] }: StoredDeployment['spec'],
): NamedNetwork[] {
  return names.map((name) => {
    const id = store.get(inTenant(tenant, networkNames, name))?.record.id
    const network = id && store.get(inTenant(tenant, networks, id))?.record
    return { name, nodeId: network ? network.nodeId : null }
  })
}

/** The volumes that a deployment mounts from a storage pool. A volume without a record has no primary. */
function mountedVolumes(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { volumes: mounts = [] }: StoredDeployment['spec'],
): MountedVolume[] {
  const ids = new Set(mounts.filter(({ type }) => type !== 'tmpfs').map(({ volume }) => volume))
  return [...ids].map((id) => {
    const { primary = null, copies = [], handover } = store.get(inTenant(tenant, volumes, id))?.record ?? {}
    const others = copies.filter(({ nodeId }) => nodeId !== primary?.nodeId)
    return {
      id,
      primary: primary?.nodeId ?? null,
      copies: Object.fromEntries(others.map(({ nodeId, state }) => [nodeId, state])),
      isMoving: handover !== undefined && handover !== null,
    }
  })
}

/** The resources that the assignments request; zero if the owner no longer exists. */
export function requestsOf(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  placement: StoredPlacement,
): ReplicaRequests {
  const { resources = placement.resources ?? NOTHING, canaryResources } =
    findAdmitted(store, tenant, placement) ?? {}
  return { resources, ...defined({ canaryResources }) }
}

/** Affinity rules name deployments only. Another owner is counted under its own text, which is no deployment name. */
export const countedName = ({ owner, name }: Pick<StoredPlacement, 'owner' | 'name'>): string =>
  deploymentUidOf(owner) === undefined ? owner : name

/** Gathers the scheduler's input for a whole tenant from the cache. */
export function gatherTenantFacts(
  store: ReadStore,
  quotas: Pick<Quotas, 'limit'>,
  tenant: TenantId,
): TenantFacts {
  const byNode = new Map<NodeId, AssignedWork[]>()
  let used = 0
  for (const { record } of store.list(placements, tenant)) {
    const { owner } = record
    const name = countedName(record)
    const requests = requestsOf(store, tenant, record)
    used += record.assignments.length
    for (const each of record.assignments)
      add(byNode, each.nodeId, { owner, name, resources: requestedBy(requests, each) })
  }
  return {
    nodes: store
      .list(nodes, tenant)
      .map(({ record }) => nodeFacts(store, tenant, record, byNode.get(record.id) ?? [])),
    containers: { used, limit: quotas.limit(tenant, 'containers') },
  }
}

function add(byNode: Map<NodeId, AssignedWork[]>, nodeId: Assignment['nodeId'], work: AssignedWork): void {
  const known = byNode.get(nodeId)
  if (known === undefined) byNode.set(nodeId, [work])
  else known.push(work)
}
