// The owner of assignments: a kind of workload and the id of one workload, as `deployment/<uid>`. Code that does not
// know a kind leaves its assignments alone: they exist, use capacity and are kept. See docs/design/placement.md#owners

import type { Brand, DeploymentUid, JobId } from './ids.ts'

/** The kinds that this version knows. A stored owner may have a kind that only a newer version knows. */
export const OWNER_KINDS = ['deployment', 'job'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]

/** `<kind>/<id>`; unique in a tenant, also after the workload was deleted and created again with the same name. */
export type Owner = Brand<'Owner'>

/** The parts of an owner whose kind is known. */
export type KnownOwner =
  | { readonly kind: 'deployment'; readonly id: DeploymentUid }
  | { readonly kind: 'job'; readonly id: JobId }

export function ownerOf(kind: 'deployment', id: DeploymentUid): Owner
export function ownerOf(kind: 'job', id: JobId): Owner
export function ownerOf(kind: OwnerKind, id: string): Owner {
  return asOwner(`${kind}/${id}`)
}

/** Casts a text that the platform stored, such as the id in a store key or the label of a container. */
export const asOwner = (text: string): Owner => text as Owner

/** Undefined for a kind that this version does not know: the caller must not treat such an owner as absent. */
export function readOwner(owner: Owner): KnownOwner | undefined {
  const { kind, id } = splitKind(owner)
  if (kind === undefined) return undefined
  return kind === 'job' ? { kind, id: id as JobId } : { kind, id: id as DeploymentUid }
}

/** The uid of the deployment that is the owner; undefined for every other owner. */
export function deploymentUidOf(owner: Owner): DeploymentUid | undefined {
  const read = readOwner(owner)
  return read?.kind === 'deployment' ? read.id : undefined
}

/** The id of the job that is the owner; undefined for every other owner. */
export function jobIdOf(owner: Owner): JobId | undefined {
  const read = readOwner(owner)
  return read?.kind === 'job' ? read.id : undefined
}

/**
 * A workload that refers to a credential: `deployment/<name>` or `job/<id>`. Not the owner, because every decision about
 * a credential looks up the deployment's record, which is stored by name.
 */
export type Consumer = Brand<'Consumer'>

export const consumerOf = (kind: OwnerKind, name: string): Consumer => `${kind}/${name}` as Consumer

/** The name of the deployment that is the consumer; undefined for a kind that this version does not know. */
export function consumingDeployment(consumer: Consumer): string | undefined {
  const { kind, id } = splitKind(consumer)
  return kind === 'deployment' ? id : undefined
}

/** The id of the job that is the consumer; undefined for every other consumer. */
export function consumingJob(consumer: Consumer): JobId | undefined {
  const { kind, id } = splitKind(consumer)
  return kind === 'job' ? (id as JobId) : undefined
}

/** How messages and responses name a consumer: a deployment by its name, any other consumer with its kind. */
export const consumerName = (consumer: Consumer): string => consumingDeployment(consumer) ?? consumer

function splitKind(text: string): { readonly kind: OwnerKind | undefined; readonly id: string } {
  const slash = text.indexOf('/')
  const id = text.slice(slash + 1)
  const kind = OWNER_KINDS.find((each) => each === text.slice(0, Math.max(slash, 0)))
  return { kind: id === '' || id.includes('/') ? undefined : kind, id }
}
