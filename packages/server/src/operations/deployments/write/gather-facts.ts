// Gathers the stored facts that admission needs (core/admission/facts/facts.ts), for creates and updates. Each record is
// read through the transaction and compared at commit, so a concurrent change of a fact reruns the decision.

import { type DeploymentSpec, defined, type TenantId } from '@holdfast/contract'
import type {
  checkFacts,
  DependencyFact,
  DistanceFact,
  Facts,
  ImageFact,
  NodeFact,
  QuotaFact,
  ResidencyFact,
} from '@holdfast/core'
import type { ImageAnswer } from '../../../ports/broker.ts'
import { hiddenCountry } from '../../../scheduling/scheduling-facts.ts'
import { deployments, nodes, registryCredentials, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { gatherNetworks } from './claim-networks.ts'
import { gatherRouteHolders } from './claim-routes.ts'
import { gatherVolumes } from './claim-volumes.ts'
import { gatherNode } from './gather-node.ts'
import type { SecretsOfWrite } from './judge-secrets.ts'

/**
 * A write whose facts are gathered. Facts about fields that the request did not send are neither gathered nor checked.
 */
export interface FactsRequest {
  readonly spec: DeploymentSpec
  /** The stored deployment with the name in the request; undefined if there is none. */
  readonly stored: StoredDeployment | undefined
  /** Kind of the write. A create is treated as a request that sends every field. */
  readonly mode: 'create' | 'update'
  readonly sendsDependsOn: boolean
  readonly sentNodeId: string | undefined
  /** Of a job, whose rules about nodes differ: the facts about its node. */
  readonly jobNode?: NodeFact
  /** Whether the request sends `nodeId` or `volumes`. */
  readonly sendsPlace: boolean
  /** The largest number of replicas that a scaling policy may desire; absent without a policy. */
  readonly mostReplicas?: number
  readonly image: ImageFact | undefined
  readonly archivedDigest: string | undefined
  readonly secrets: Pick<SecretsOfWrite, 'facts' | 'quotas'>
  /** Quotas that the deployment itself uses; `secrets` contains the quotas of its secrets. */
  readonly quotas: readonly QuotaFact[]
}

export function gatherFacts(
  deps: DeploymentDeps,
  transaction: Transaction,
  tenant: TenantId,
  request: FactsRequest,
): Facts {
  const { spec, stored, mode, image, archivedDigest, secrets } = request
  const updated = mode === 'update' ? stored : undefined
  return {
    existing: stored && {
      record: deploymentView(deps.store, tenant, stored),
      deleting: stored.deleting,
    },
    routeHolders: gatherRouteHolders(transaction, tenant, spec, updated),
    credentials: secrets.facts,
    quotas: [...request.quotas, ...secrets.quotas],
    ...defined({
      dependencies: request.sendsDependsOn
        ? gatherDependencies(deps.store, transaction, tenant, spec)
        : undefined,
      dependents: updated && gatherDependents(deps.store, tenant, spec, updated.spec),
      image,
      archivedDigest,
      networks: gatherNetworks(transaction, tenant, spec, updated?.spec),
      volumes: withMost(
        gatherVolumes(transaction, tenant, { spec, before: updated, sendsPlace: request.sendsPlace }),
        request.mostReplicas,
      ),
    }),
    ...(request.jobNode === undefined
      ? gatherNode(deps.store, transaction, tenant, request.sentNodeId)
      : { node: request.jobNode }),
    ...gatherResidency(deps, tenant, spec),
    ...gatherDistance(deps.store, tenant, spec),
  }
}

const withMost = (volumes: Facts['volumes'], mostReplicas: number | undefined): Facts['volumes'] =>
  volumes && { ...volumes, ...defined({ mostReplicas }) }

/** Nodes of the tenant and of the dependencies, from the cache: these facts cause only warnings, never a rejection. */
function gatherDistance(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  { dependsOn }: DeploymentSpec,
): { readonly distance?: DistanceFact } {
  if (dependsOn === undefined) return {}
  const open = store.list(nodes, tenant).filter(({ record }) => record.schedulable && !record.controlPlane)
  const nodeIds = new Map<string, string>()
  for (const name of Object.keys(dependsOn)) {
    const nodeId = store.get(inTenant(tenant, deployments, name))?.record.spec.nodeId
    if (nodeId !== undefined) nodeIds.set(name, nodeId)
  }
  return { distance: { schedulableNodes: open.length, nodeIds } }
}

/** The most dependencies compared at commit. With 16 routes and the record, a transaction stays below 120 operations. */
export const MOST_COMPARED = 80

/**
 * Every deployment reachable through dependsOn, nearest first. Deployments beyond the limit are read from the cache and
 * not compared: two writes at the same moment that close a cycle through more than 80 deployments are both accepted, and
 * the deployments of the cycle wait for each other. Direct dependencies are always compared.
 */
export function gatherDependencies(
  store: Pick<Store, 'get'>,
  transaction: Pick<Transaction, 'get'>,
  tenant: TenantId,
  spec: DeploymentSpec,
): ReadonlyMap<string, DependencyFact> {
  const graph = new Map<string, DependencyFact>()
  const names = new Set(Object.keys(spec.dependsOn ?? {}))
  let read = 0
  // The loop over `names` also visits names that the loop itself adds.
  for (const name of names) {
    if (name === spec.name) continue
    read += 1
    const address = inTenant(tenant, deployments, name)
    const found = read > MOST_COMPARED ? store.get(address)?.record : transaction.get(address)
    if (found === undefined || found.deleting) continue
    const dependsOn = Object.keys(found.spec.dependsOn ?? {})
    graph.set(name, { hasHealthCheck: found.spec.healthCheck !== undefined, dependsOn })
    for (const next of dependsOn) names.add(next)
  }
  return graph
}

/**
 * Names of the deployments that wait until the written one is healthy, looked up only when an update removes its health
 * check. The names come from the cache, so a dependency that is added at the same moment may be missed.
 */
function gatherDependents(
  store: Pick<Store, 'list'>,
  tenant: TenantId,
  spec: DeploymentSpec,
  before: DeploymentSpec,
): readonly string[] {
  if (spec.healthCheck !== undefined || before.healthCheck === undefined) return []
  return store.list(deployments, tenant).flatMap(({ record: { spec: other, deleting } }) => {
    const { name, dependsOn = {} } = other
    return !deleting && Object.hasOwn(dependsOn, spec.name) && dependsOn[spec.name] === 'healthy'
      ? [name]
      : []
  })
}

/**
 * The configured residency rules, and the labels of the tenant's reachable nodes from the cache, only for a spec that
 * demands residency. The cache is fresh enough, because these facts cause only warnings, never a rejection.
 */
export function gatherResidency(
  { store, residency: rules }: Pick<DeploymentDeps, 'store' | 'residency'>,
  tenant: TenantId,
  { placement }: DeploymentSpec,
): { readonly residency?: ResidencyFact } {
  if (placement?.residency === undefined) return {}
  const reachable = store
    .list(nodes, tenant)
    .filter(({ record }) => record.status === 'ready')
    .map(({ record }) => ({ labels: record.labels, hiddenCountry: hiddenCountry(record) }))
  return { residency: { rules, reachable } }
}

/** Asks the registry for the image through the broker; only the broker may read the tenant's registry credential. */
export async function gatherImage(
  deps: DeploymentDeps,
  { tenant }: Caller,
  image: string,
  host: string,
): Promise<ImageFact> {
  const credential = deps.store.get(inTenant(tenant, registryCredentials, host))
  const answer = await deps.broker.checkImage(tenant, image, credential?.record.version)
  return imageFact(answer)
}

function imageFact(answer: ImageAnswer): ImageFact {
  switch (answer.kind) {
    case 'exists':
      return { answer: 'exists', digest: answer.digest }
    case 'unreachable':
      return { answer: 'unreachable', cause: answer.cause }
    case 'absent':
    case 'credentials_unavailable':
      return { answer: answer.kind }
  }
}

/** Why the digest of the image is still unknown; undefined if it is known or the registry was not asked. */
export function unresolvedBy({
  imageDigest,
  warnings,
}: Pick<ReturnType<typeof checkFacts>, 'imageDigest' | 'warnings'>): string | undefined {
  return imageDigest === null ? warnings.find(({ code }) => code === 'registry_unreachable')?.why : undefined
}

/** Estimated bytes that a revision stores besides two copies of its spec: keys, metadata, event and audit entry. */
const OVERHEAD_BYTES = 2048

/** The tenant's byte quota and the bytes that another revision would use, from the byte count of the cache. */
export function gatherBytes(
  { store, quotas }: Pick<DeploymentDeps, 'store' | 'quotas'>,
  tenant: TenantId,
  specBytes: number,
): QuotaFact {
  const kind = 'stored_bytes'
  return {
    kind,
    used: store.storedBytes(tenant),
    requested: 2 * specBytes + OVERHEAD_BYTES,
    limit: quotas.limit(tenant, kind),
  }
}
