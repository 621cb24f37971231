// Gathers the facts that decide whether a rotation may advance: which versions each consumer should run, runs, and has
// proved to run. The facts come from the cache; a transaction compares only the credential's record. That is enough,
// because a consumer with only the new version can get the old version back only through a write of that record.

import {
  type Assignment,
  type Consumer,
  consumerName,
  consumingJob,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import {
  desiredReplicas,
  isCanaryReplica,
  isReady,
  pinOf,
  type RotationConsumer,
  type RotationFacts,
} from '@holdfast/core'
import { countedName } from '../../../scheduling/scheduling-facts.ts'
import {
  credentials,
  deployments,
  jobs,
  observations,
  placements,
  type StoredCredential,
  type StoredDeployment,
  type StoredJob,
  type StoredObservation,
  type StoredPlacement,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import { claimedSpec } from '../../deployments/canary/end-canary.ts'
import { pathOf } from '../versions/version-uses.ts'
import { anchoredVolumes, anchorsOf, type Referring } from './anchored-volumes.ts'
import { gatherCanary, partsOf, refersTo } from './canary-consumer.ts'
import { containerProof, containerVersions, knownProofKey } from './proof.ts'

type StoreReader = Pick<Store, 'get' | 'list'>

/** The number of containers that have proved to run one version of a secret. */
interface ProvedVersion {
  readonly version: number
  readonly replicas: number
  /** Time of the latest start among the containers that run one version of a secret. */
  readonly since: string
}

export interface GatheredConsumer extends RotationConsumer {
  readonly running: readonly ProvedVersion[]
}

export interface GatheredRotation extends RotationFacts {
  readonly consumers: readonly GatheredConsumer[]
}

export function gatherRotation(
  store: StoreReader,
  tenant: TenantId,
  credential: StoredCredential,
  /** The deployment as a transaction is about to write it; absent if no deployment changes. */
  changed?: StoredDeployment,
): GatheredRotation {
  // A consumer of another kind has a name that no deployment can have, so it has no record here.
  const recordOf = (name: string) =>
    changed?.spec.name === name ? changed : store.get(inTenant(tenant, deployments, name))?.record
  const former = formerConsumers(store, tenant, credential)
  const referring = credential.consumers.flatMap(
    (consumer): Referring | readonly [] =>
      jobOf(store, tenant, consumer) ?? withCanaryAnchors(recordOf(consumerName(consumer))) ?? [],
  )
  return {
    rotation: credential.rotation,
    versions: credential.versions.map(({ version }) => version),
    consumers: [
      ...credential.consumers.flatMap(
        (consumer) =>
          gatherJob(store, tenant, credential, consumer) ??
          gatherDeployment(
            store,
            tenant,
            credential,
            consumerName(consumer),
            recordOf(consumerName(consumer)),
          ),
      ),
      ...former.map((placement) => formerConsumer(credential, placement)),
    ],
    volumes: anchoredVolumes(store, tenant, pathOf(credential), referring),
  }
}

/** The anchors of a running canary count like those of its deployment. */
const withCanaryAnchors = (stored: StoredDeployment | undefined): Referring | undefined =>
  stored && { ...stored, spec: claimedSpec(stored) }

/** A deployment as consumer, and its running canary as another one: no phase moves it, and it proves nothing. */
function gatherDeployment(
  store: StoreReader,
  tenant: TenantId,
  credential: StoredCredential,
  name: string,
  stored: StoredDeployment | undefined,
): GatheredConsumer[] {
  // A consumer whose record cannot be read, or whose kind is unknown, may run any version of the secret, so it blocks the
  // next rotation phase.
  if (stored === undefined) return [{ ...unreadable(name), running: [] }]
  const placement = store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))?.record
  const proofs = placement === undefined ? [] : proofsOf(store, tenant, credential, placement)
  const parts = partsOf(placement)
  const found = gatherCanary(stored, credential, heldVersions(credential, parts.canary))
  if (found === undefined) return [ownConsumer(credential, stored, placement?.templates ?? {}, proofs)]
  const { ofCanary = [], others = [] } = Object.groupBy(proofs, (proof) =>
    proof.ofCanary ? 'ofCanary' : 'others',
  )
  const canary = { ...found, running: sumByVersion(ofCanary) }
  const own = ownConsumer(credential, stored, parts.own, others)
  if (refersTo(stored.spec, credential)) return [own, canary]
  // Only the canary names the secret. Containers of an earlier revision may still use it.
  return own.held.length === 0 ? [canary] : [{ ...own, desired: 0, leaving: true }, canary]
}

function ownConsumer(
  credential: StoredCredential,
  stored: StoredDeployment,
  templates: StoredPlacement['templates'],
  proofs: readonly Proof[],
): GatheredConsumer {
  return {
    name: stored.spec.name,
    pin: pinOf(stored.pins, pathOf(credential)) ?? credential.initial,
    desired: desiredReplicas({ ...stored, deleting: false }),
    held: heldVersions(credential, templates),
    proved: countReady(proofs),
    leaving: stored.deleting,
    anchored: anchorsOf(stored, pathOf(credential)).length > 0,
    running: sumByVersion(proofs),
  }
}

/**
 * A job as consumer: it keeps the version that its container started with, and no phase recreates it. Until it has ended or
 * starts its next attempt with the new version, it needs its own. Undefined if the consumer is no job that can be read.
 */
function gatherJob(
  store: StoreReader,
  tenant: TenantId,
  credential: StoredCredential,
  consumer: Consumer,
): GatheredConsumer | undefined {
  const job = jobOf(store, tenant, consumer)
  if (job === undefined) return undefined
  const placement = store.get(placementAt(tenant, ownerOf('job', job.id)))?.record
  const pin = pinOf(job.pins, pathOf(credential)) ?? credential.initial
  const held = new Set([
    ...heldVersions(credential, placement?.templates ?? {}),
    ...(pin === null ? [] : [pin]),
  ])
  return {
    ...unreadable(consumer),
    pin,
    desired: 0,
    held: [...held],
    leaving: true,
    isJob: true,
    running: [],
  }
}

function jobOf(store: StoreReader, tenant: TenantId, consumer: Consumer): StoredJob | undefined {
  const id = consumingJob(consumer)
  return id && store.get(inTenant(tenant, jobs, id))?.record
}

function unreadable(name: string): RotationConsumer {
  return {
    name,
    pin: null,
    desired: 1,
    held: [],
    proved: new Map(),
    leaving: false,
  }
}

/**
 * Placements of deployments that no longer refer to the secret but may still have a container that uses it, and
 * placements of owners of another kind with such a container.
 */
function formerConsumers(
  store: StoreReader,
  tenant: TenantId,
  credential: StoredCredential,
): StoredPlacement[] {
  const names = new Set(credential.consumers.map(consumerName))
  return store
    .list(placements, tenant)
    .map(({ record }) => record)
    .filter((placement) => !names.has(countedName(placement)))
    .filter(({ templates }) => heldVersions(credential, templates).length > 0)
}

function formerConsumer(credential: StoredCredential, placement: StoredPlacement): GatheredConsumer {
  const held = heldVersions(credential, placement.templates)
  return { ...unreadable(countedName(placement)), desired: 0, held, leaving: true, running: [] }
}

/** Versions in a placement's templates: those of containers not confirmed gone, and of the target of a rollback. */
function heldVersions(credential: StoredCredential, templates: StoredPlacement['templates']): number[] {
  const versions = Object.values(templates).flatMap(({ secrets = [] }) =>
    secrets.filter((used) => isOf(used, credential)).map(({ version }) => version ?? credential.initial),
  )
  return [...new Set(versions.filter((version) => version !== null))]
}

const isOf = (
  used: { readonly namespace: string; readonly label: string },
  { namespace, label }: StoredCredential,
): boolean => used.namespace === namespace && used.label === label

interface Proof {
  readonly replica: number
  readonly version: number
  readonly ready: boolean
  readonly since: string
  readonly ofCanary: boolean
}

function proofsOf(
  store: StoreReader,
  tenant: TenantId,
  credential: StoredCredential,
  placement: StoredPlacement,
): Proof[] {
  const key = knownProofKey(store)
  if (key === undefined) return []
  return placement.assignments.flatMap((assignment) => {
    const seen = store.get(inTenant(tenant, observations, assignment.id))?.record
    if (seen?.proof === undefined || seen.gone) return []
    const version = provedVersion(store, tenant, credential, placement, assignment, key, seen.proof)
    return version === undefined ? [] : [proofOf(assignment, seen, version)]
  })
}

/** The secret version that a container was created with, if its node returned the broker's proof for its versions. */
function provedVersion(
  store: StoreReader,
  tenant: TenantId,
  { label }: StoredCredential,
  { templates }: StoredPlacement,
  { id, templateHash }: Assignment,
  key: string,
  sent: string,
): number | undefined {
  const initial = (each: string) => store.get(inTenant(tenant, credentials, each))?.record.initial
  const versions = containerVersions(templates[templateHash]?.secrets ?? [], initial)
  return versions !== undefined && sent === containerProof(key, id, versions)
    ? versions.get(label)
    : undefined
}

/** A replica of a canary proves nothing about the replica of the deployment that has its number. */
function proofOf(assignment: Assignment, seen: StoredObservation, version: number): Proof {
  const { replica, desired } = assignment
  const ofCanary = isCanaryReplica(assignment)
  const ready = desired === 'running' && !ofCanary && isReady(seen)
  return { replica, version, ready, since: seen.startedAt ?? seen.at, ofCanary }
}

function countReady(proofs: readonly Proof[]): ReadonlyMap<number, number> {
  const numbers = Map.groupBy(
    proofs.filter(({ ready }) => ready),
    ({ version }) => version,
  )
  return new Map(
    [...numbers].map(([version, own]) => [version, new Set(own.map(({ replica }) => replica)).size]),
  )
}

function sumByVersion(proofs: readonly Proof[]): ProvedVersion[] {
  return [...Map.groupBy(proofs, ({ version }) => version)]
    .map(([version, own]) => ({
      version,
      replicas: own.length,
      since: own.map(({ since }) => since).reduce((last, each) => (each > last ? each : last), ''),
    }))
    .sort((left, right) => left.version - right.version)
}
