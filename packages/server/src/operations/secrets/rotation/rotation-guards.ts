// What the phases of a rotation are judged by: what each consumer of a credential is to run, runs, and has proved to run.
// DECISIONS 5. All of it from the cache at one revision; the credential's own record is what a transaction compares. That is
// enough: whoever has only the new version gets the old one back by a write of that record alone (core, rotation-model).

import type { Assignment, TenantId } from '@holdfast/contract'
import { anchorVolume, isReady, pinOf, type RotationConsumer, type RotationFacts } from '@holdfast/core'
import {
  credentials,
  deployments,
  observations,
  placements,
  type StoredCredential,
  type StoredDeployment,
  type StoredObservation,
  type StoredPlacement,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { pathOf } from '../versions/version-uses.ts'
import { containerProof, knownProofKey, madeWith } from './proof.ts'

type Reading = Pick<Store, 'get' | 'list'>

/** Containers of one version that have proved it. */
interface ProvedVersion {
  readonly version: number
  readonly replicas: number
  /** When the last of them started. */
  readonly since: string
}

export interface GatheredConsumer extends RotationConsumer {
  readonly running: readonly ProvedVersion[]
}

export interface GatheredRotation extends RotationFacts {
  readonly consumers: readonly GatheredConsumer[]
}

export function gatherRotation(
  store: Reading,
  tenant: TenantId,
  credential: StoredCredential,
  /** As it will be, where a transaction is about to change it. */
  changed?: StoredDeployment,
): GatheredRotation {
  const recordOf = (name: string) =>
    changed?.spec.name === name ? changed : store.get(inTenant(tenant, deployments, name))?.record
  const former = formerConsumers(store, tenant, credential)
  return {
    rotation: credential.rotation,
    versions: credential.versions.map(({ version }) => version),
    consumers: [
      ...credential.consumers.map((name) => consumerOf(store, tenant, credential, name, recordOf(name))),
      ...former.map((placement) => formerConsumer(credential, placement)),
    ],
  }
}

function consumerOf(
  store: Reading,
  tenant: TenantId,
  credential: StoredCredential,
  name: string,
  stored: StoredDeployment | undefined,
): GatheredConsumer {
  // One that cannot be read may run anything: it proves nothing, and wants something.
  if (stored === undefined) return { ...unread(name), running: [] }
  const placement = store.get(inTenant(tenant, placements, stored.uid))?.record
  const proofs = placement === undefined ? [] : proofsOf(store, tenant, credential, placement)
  return {
    name,
    pin: pinOf(stored.pins, pathOf(credential)) ?? credential.initial,
    wished: stored.spec.replicas,
    held: placement === undefined ? [] : heldVersions(credential, placement),
    proved: countReady(proofs),
    leaving: stored.deleting,
    anchored: isAnchored(stored, pathOf(credential)),
    promotableHoldCheckpoint: true,
    running: summed(proofs),
  }
}

const isAnchored = ({ spec }: StoredDeployment, path: string): boolean =>
  spec.secrets.some(({ vault_path, anchor }) => vault_path === path && anchorVolume(anchor) !== undefined)

function unread(name: string): RotationConsumer {
  return {
    ...{ name, pin: null, wished: 1, held: [], proved: new Map(), leaving: false },
    promotableHoldCheckpoint: true,
  }
}

/** Deployments that refer to the path no more, and of which a container may still have it. */
function formerConsumers(store: Reading, tenant: TenantId, credential: StoredCredential): StoredPlacement[] {
  return store
    .list(placements, tenant)
    .map(({ record }) => record)
    .filter(({ name }) => !credential.consumers.includes(name))
    .filter((placement) => heldVersions(credential, placement).length > 0)
}

function formerConsumer(credential: StoredCredential, placement: StoredPlacement): GatheredConsumer {
  const held = heldVersions(credential, placement)
  return { ...unread(placement.name), wished: 0, held, leaving: true, running: [] }
}

/** A placement keeps the templates of what is not confirmed gone, and of what a failed update would go back to. */
function heldVersions(credential: StoredCredential, { templates }: StoredPlacement): number[] {
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
}

function proofsOf(
  store: Reading,
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

/** What the container was made with, if what its node sent is what the broker gave for just that. */
function provedVersion(
  store: Reading,
  tenant: TenantId,
  { label }: StoredCredential,
  { templates }: StoredPlacement,
  { id, templateHash }: Assignment,
  key: string,
  sent: string,
): number | undefined {
  const initial = (each: string) => store.get(inTenant(tenant, credentials, each))?.record.initial
  const made = madeWith(templates[templateHash]?.secrets ?? [], initial)
  return made !== undefined && sent === containerProof(key, id, made) ? made.get(label) : undefined
}

function proofOf({ replica, desired }: Assignment, seen: StoredObservation, version: number): Proof {
  const ready = desired === 'running' && isReady(seen)
  return { replica, version, ready, since: seen.startedAt ?? seen.at }
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

function summed(proofs: readonly Proof[]): ProvedVersion[] {
  return [...Map.groupBy(proofs, ({ version }) => version)]
    .map(([version, own]) => ({
      version,
      replicas: own.length,
      since: own.map(({ since }) => since).reduce((last, each) => (each > last ? each : last), ''),
    }))
    .sort((left, right) => left.version - right.version)
}
