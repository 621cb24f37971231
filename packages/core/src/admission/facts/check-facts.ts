// Checks of a deployment that need facts from the store or a registry. Returns all rejections at once, in the order
// name, dependsOn, image, nodeId, secrets, volumes, routes, networks, quota (docs/design/admission.md#order).

import {
  type Alteration,
  type DeploymentSpec,
  elementPath,
  type Rejection,
  stepsOf,
  type Warning,
} from '@holdfast/contract'
import { parseImageReference } from '../../image-reference.ts'
import { reject } from '../../reject.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import type { AdmissionContext } from '../context.ts'
import { checkDependencies, checkDependents, warnOfDistance } from './check-dependencies.ts'
import { checkKnownKeys } from './check-known-keys.ts'
import { checkNetworks } from './check-networks.ts'
import { explainResidency } from './check-residency.ts'
import { checkSecretFacts, explainExisting } from './check-secret-facts.ts'
import { checkVolumes, warnOfSeparateCopies } from './check-volumes.ts'
import type { ExistingFact, Facts, ImageFact, NodeFact, QuotaFact } from './facts.ts'

export interface FactsVerdict {
  readonly rejections: Rejection[]
  /** True if the response must use the second HTTP status that the error catalogue lists for the first rejection. */
  readonly alternative: boolean
  readonly alterations: Alteration[]
  readonly warnings: Warning[]
  /** The image digest to which replicas are pinned; null until a registry has answered. */
  readonly imageDigest: string | null
}

export function checkFacts(
  spec: DeploymentSpec,
  facts: Facts,
  { mode, limits }: Pick<AdmissionContext, 'mode' | 'limits'>,
  material: readonly SentMaterial[] = [],
): FactsVerdict {
  const { existing, dependencies, image, node, credentials, routeHolders, residency } = facts
  const { volumes, networks, quotas = [] } = facts
  const keptDigest = facts.archivedDigest ?? keptImageDigest(spec, existing)
  const imageDigest = keptDigest ?? (image?.answer === 'exists' ? image.digest : null)
  const rejections = [
    ...(mode === 'create' ? checkFree(spec.name, existing) : checkFound({ name: spec.name }, existing)),
    ...(dependencies === undefined ? [] : checkDependencies(spec, dependencies, limits)),
    ...checkDependents(spec, facts.dependents ?? []),
    ...checkImage(spec.image, image),
    ...checkNode(spec, node, existing),
    ...checkSecretFacts(spec, credentials, mode === 'update' ? existing : undefined),
    ...checkKnownKeys(spec, mode === 'update' ? existing?.record : undefined, {
      credentials,
      material,
      limits,
    }),
    ...(volumes === undefined ? [] : checkVolumes(spec, volumes, mode === 'update' ? existing : undefined)),
    ...checkRoutes(spec, routeHolders),
    ...(networks === undefined ? [] : checkNetworks(spec, networks)),
    ...checkQuotas(quotas),
  ]
  return {
    rejections,
    alternative: node?.answer === 'unreadable' && rejections[0]?.code === 'node_candidates_unresolvable',
    alterations: keptDigest === null ? explainDigest(spec.image, imageDigest) : [],
    warnings: [
      ...(image?.answer === 'unreachable' ? [registryUnreachable(image.cause, imageDigest)] : []),
      ...explainExisting(spec, credentials, material),
      ...(residency === undefined ? [] : explainResidency(spec.placement?.residency, residency)),
      ...(facts.distance === undefined ? [] : warnOfDistance(spec, facts.distance)),
      ...(volumes === undefined ? [] : warnOfSeparateCopies(spec, volumes)),
    ],
    imageDigest,
  }
}

/**
 * Checks the valid fields of a body that also has faults, so that all faults are reported at once. A rejection that a
 * corrected field could make untrue is left out.
 */
export function checkValidPart(
  ...[spec, facts, context, material, faulty]: [
    ...Required<Parameters<typeof checkFacts>>,
    ReadonlySet<string | number>,
  ]
): Rejection[] {
  return checkFacts(spec, facts, context, material).rejections.filter(({ code, field }) => {
    const [top = ''] = stepsOf(field)
    return ![top, ...(ALSO_NEEDS[code] ?? [])].some((name) => faulty.has(name))
  })
}

/** Fields that a rejection depends on, besides the field that it names. */
const ALSO_NEEDS: { readonly [code: string]: readonly string[] } = {
  anchored_secret_dropped: ['volumes'],
  anchored_secret_repointed: ['volumes'],
  dependency_invalid: ['name'],
  environment_key_conflict: ['environment', 'composedEnvironment', 'secrets'],
  volume_access_mode_conflict: ['replicas'],
  volume_primary_mismatch: ['nodeId', 'volumes'],
}

/** How the URL path names the deployment. */
export type Addressed = { readonly name: string } | { readonly uid: string }

/**
 * Checks that the deployment of a PUT or DELETE exists and is not being deleted. Exported for callers without a record,
 * which have no spec to check.
 */
export function checkFound(
  addressed: Addressed,
  existing: Pick<ExistingFact, 'deleting'> | undefined,
): Rejection[] {
  if (existing !== undefined && !existing.deleting) return []
  return 'uid' in addressed
    ? [reject('deployment_not_found', 'deployment_id', addressed.uid)]
    : [reject('deployment_not_found', 'name', addressed.name)]
}

function checkFree(name: string, existing: ExistingFact | undefined): Rejection[] {
  return existing === undefined ? [] : [reject('deployment_exists', 'name', name)]
}

function checkImage(reference: string, image: ImageFact | undefined): Rejection[] {
  if (image?.answer === 'absent') return [reject('image_not_found', 'image', reference)]
  if (image?.answer === 'credentials_unavailable') {
    return [reject('registry_credential_store_unavailable', 'image', reference)]
  }
  return []
}

/** Rejects a `nodeId` that is no candidate node. A deployment that already names a control-plane node may keep it. */
function checkNode(
  { nodeId }: DeploymentSpec,
  node: NodeFact | undefined,
  existing: ExistingFact | undefined,
): Rejection[] {
  switch (node?.answer) {
    case undefined:
    case 'candidate':
      return []
    case 'control_plane':
      return existing?.record.nodeId === nodeId ? [] : [notACandidate(nodeId)]
    case 'unknown':
      return [notACandidate(nodeId)]
    case 'unknown_to_job':
      return [reject('job_node_not_found', 'nodeId', nodeId)]
    case 'none_connected':
      return [reject('job_node_candidates_unresolvable', 'nodeId', nodeId)]
    case 'none_enrolled':
    case 'unreadable':
      return [reject('node_candidates_unresolvable', 'nodeId', nodeId)]
  }
}

const notACandidate = (nodeId: string | undefined): Rejection =>
  reject('node_not_a_placement_candidate', 'nodeId', nodeId)

/** Rejects a route whose host and path another deployment of the tenant owns, even one that is being deleted. */
function checkRoutes({ routes = [] }: DeploymentSpec, holders: Facts['routeHolders']): Rejection[] {
  return routes.flatMap((route, index) => {
    const deployment = holders?.get(index)
    return deployment === undefined
      ? []
      : [reject('route_conflict', elementPath('routes', index), route, { deployment })]
  })
}

export function checkQuotas(quotas: readonly QuotaFact[]): Rejection[] {
  return quotas
    .filter(({ used, requested, limit }) => used + requested > limit)
    .map(({ kind, used, requested, limit }) =>
      reject('quota_exceeded', `quotas.${kind}`, used + requested, { kind, used, limit }),
    )
}

/** The stored image digest if the update leaves the image string unchanged, else null: a new image is resolved again. */
function keptImageDigest(spec: DeploymentSpec, existing: ExistingFact | undefined): string | null {
  return existing?.record.image === spec.image ? existing.record.status.image.digest : null
}

/** Reports the resolved digest as an alteration, unless the image reference already contains the digest. */
function explainDigest(reference: string, digest: string | null): Alteration[] {
  if (digest === null || parseImageReference(reference)?.digest === digest) return []
  const why = 'The tag was resolved once; every replica runs this image.'
  return [{ code: 'image_digest_resolved', field: 'status.image.digest', from: null, to: digest, why }]
}

function registryUnreachable(cause: string, digest: string | null): Warning {
  const then =
    digest === null ? 'Replicas stay pending until the image is resolved.' : 'Replicas run the known digest.'
  const why = `The registry could not be queried: ${cause}. ${then}`
  return { code: 'registry_unreachable', field: 'image', why }
}
