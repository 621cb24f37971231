// What an admission must know of the world (core/admission/facts/facts.ts), read through the transaction: each record read is
// compared at commit, so a fact that changes meanwhile sends the decision back to here.

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import type { checkFacts, DependencyFact, ImageFact, QuotaFact } from '@holdfast/core'
import type { ImageAnswer } from '../../../ports/broker.ts'
import { deployments, registryCredentials } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'

/** One transaction compares at most this many other deployments, beside 16 routes and itself (SAFETY 4a, no more than 120). */
const MAX_GRAPH = 80

/** Every deployment reachable by dependsOn, the nearest first; those beyond the limit are not read and lead back here. */
export function gatherDependencies(
  transaction: Transaction,
  tenant: TenantId,
  spec: DeploymentSpec,
): ReadonlyMap<string, DependencyFact> {
  const graph = new Map<string, DependencyFact>()
  const names = new Set(Object.keys(spec.dependsOn ?? {}))
  let read = 0
  // Names that are added meanwhile are visited too.
  for (const name of names) {
    if (name === spec.name) continue
    read += 1
    if (read > MAX_GRAPH) {
      graph.set(name, { hasHealthCheck: true, dependsOn: [spec.name] })
      continue
    }
    const found = transaction.get(inTenant(tenant, deployments, name))
    if (found === undefined || found.deleting) continue
    const dependsOn = Object.keys(found.spec.dependsOn ?? {})
    graph.set(name, { hasHealthCheck: found.spec.healthCheck !== undefined, dependsOn })
    for (const next of dependsOn) names.add(next)
  }
  return graph
}

/**
 * Who waits until this one is healthy; asked where its check goes, which is rare: all deployments of the tenant are looked
 * at, as the cache knows them. One that begins to wait in the very same moment may be passed by.
 */
export function gatherDependents(
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

/** Asks the registry through the broker, which alone reads the tenant's credential for it. */
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

/** Why no registry has said what the image is; undefined where that is known, or nobody was asked. */
export function unresolvedBy({
  imageDigest,
  warnings,
}: Pick<ReturnType<typeof checkFacts>, 'imageDigest' | 'warnings'>): string | undefined {
  return imageDigest === null ? warnings.find(({ code }) => code === 'registry_unreachable')?.why : undefined
}

/** What one revision adds beside its spec, which it writes twice: keys, record, archive entry, event, audit entry. */
const OVERHEAD_BYTES = 2048

/** The tenant's byte budget (DECISIONS 6), as the cache counts it. */
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
