// Decides within the transaction how a deployment write affects secrets: which credentials the deployment refers to,
// which versions the write adds, and which versions the containers use (docs/design/secrets.md#version-lifecycle).

import {
  type Alteration,
  type Consumer,
  consumerOf,
  type DeploymentSpec,
  defined,
  elementPath,
  type Rejection,
  type TenantId,
} from '@holdfast/contract'
import {
  anchorVolume,
  type CredentialFact,
  checkPersistable,
  may,
  type Pins,
  pinOf,
  planPins,
  type QuotaFact,
  type RestoredPins,
  type SentMaterial,
  withAnchoredPins,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { UnstorableRecordError } from '../../../store/encode.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { checkRecordSize } from '../../secrets/judge-secret-write.ts'
import {
  type Credentials,
  credentialFacts,
  gatherCredentials,
  labelsOf,
  type NewVersion,
} from '../../secrets/versions/claim-credentials.ts'
import { consumeIntents } from '../../secrets/versions/intents.ts'
import { checkVersionRoom } from '../../secrets/versions/prune-versions.ts'
import { isStaged, keysOf, planMaterial, type StagedMaterial } from '../../secrets/versions/stage-material.ts'
import { gatherUses, pathOf } from '../../secrets/versions/version-uses.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { StagingState } from './write-with-material.ts'

export interface SecretsOfWrite {
  /** Facts about the credentials, by label, for the admission rules. */
  readonly facts: ReadonlyMap<string, CredentialFact>
  /** The quota of credentials, if the credentials that get their first version would exceed it; otherwise empty. */
  readonly quotas: readonly QuotaFact[]
  /** Rejections of credential records that would grow too long, or that would lose versions still in use. */
  readonly crowded: readonly Rejection[]
  readonly pins: Pins
  readonly alterations: readonly Alteration[]
  /** Secret values that must be written to the secrets store before the deployment write can commit. */
  readonly needed: readonly SentMaterial[]
  readonly newVersions: readonly NewVersion[]
  /** Numbers of affected credentials, which decide how many transaction operations the secrets need. */
  readonly counts: SecretCounts
  /** Set while concurrent writes hold the last free quota slots; the decision must wait for this promise. */
  readonly busy?: Promise<void>
}

/**
 * Numbers of credentials that a write refers to, no longer refers to, changes the record of, adds a version to, and adds
 * the first version to.
 */
export interface SecretCounts {
  readonly labels: number
  readonly dropped: number
  readonly changed: number
  readonly newVersions: number
  readonly first: number
}

export interface SecretsQuestion {
  readonly spec: DeploymentSpec
  readonly before: Pick<StoredDeployment, 'spec' | 'pins'> | undefined
  readonly material: readonly SentMaterial[]
  /** The secrets of a backup that the write restores. */
  readonly restored?: RestoredPins
  /** The pins of the canary that is promoted. */
  readonly tried?: Pins
  /** The workload that refers to the secrets; absent: the deployment of the spec. */
  readonly consumer?: Consumer
}

/** A caller whose role may not write secrets may refer to them, but may not send secret values. */
export function materialPermission({ role }: Caller): { readonly materialForbidden: boolean } {
  return { materialForbidden: !may(role, 'secrets:write') }
}

export function gatherSecrets(
  { store, clock }: Pick<DeploymentDeps, 'store' | 'clock'>,
  transaction: Transaction,
  tenant: TenantId,
  { spec, before, material, restored = NO_PINS, tried, consumer }: SecretsQuestion,
  { staged, slots }: StagingState,
): SecretsOfWrite {
  const found = gatherCredentials(transaction, tenant, spec)
  const facts = credentialFacts(found)
  const needed = planMaterial(material, facts)
  const first = needed.filter(({ label }) => (found.get(label)?.slot ?? null) === null)
  const choice = slots.choose(first.length)
  const current = { secrets: before?.spec.secrets ?? [], pins: before?.pins ?? {} }
  const kept = withAnchoredPins(current, restored, (label, version) => isListed(found, label, version))
  const { pins, alterations } = planPins({
    entries: spec.secrets,
    before: kept.secrets,
    pins: kept.pins,
    credentials: facts,
    staged: new Map(staged.map(({ label, version }) => [label, version])),
    ...defined({ tried }),
  })
  const slotOf = new Map(
    choice.kind === 'free' ? first.map(({ label }, at) => [label, choice.slots[at]] as const) : [],
  )
  const createdAt = timestamp(clock)
  return {
    facts: withKnownKeys(facts, spec, found, pins, needed),
    pins,
    alterations,
    needed,
    quotas: choice.kind === 'full' ? [choice.quota] : [],
    crowded: checkVersions(store, tenant, spec, found, needed),
    newVersions: staged.map(({ label, version, keys, bytes, stagedVersion }) => ({
      label,
      version,
      keys: [...keys],
      bytes,
      createdAt,
      ...defined({ storedAt: stagedVersion.storedAt }),
      slot: slotOf.get(label),
    })),
    counts: {
      ...countChanges(spec, before, found, needed, consumer),
      newVersions: needed.length,
      first: first.length,
    },
    ...defined({ busy: choice.kind === 'busy' ? choice.until : undefined }),
  }
}

const NO_PINS: RestoredPins = { secrets: [], pins: {} }

const isListed = (found: Credentials, label: string, version: number): boolean =>
  found.get(label)?.versions.some((listed) => listed.version === version) ?? false

/**
 * Adds the keys of each pinned version to the facts about credentials. If the request sends values for a credential, its
 * stored keys are not added: containers use the values sent, unless a volume keeps the containers at an old version.
 */
function withKnownKeys(
  known: ReadonlyMap<string, CredentialFact>,
  { secrets }: DeploymentSpec,
  found: Credentials,
  pins: Pins,
  needed: readonly SentMaterial[],
): ReadonlyMap<string, CredentialFact> {
  const anchored = new Set(
    secrets.filter(({ anchor }) => anchorVolume(anchor) !== undefined).map(({ vault_path }) => vault_path),
  )
  const facts = [...known].map(([label, fact]): [string, CredentialFact] => {
    const isSent = needed.some((material) => material.label === label)
    const path = pathOf({ namespace: fact.namespace, label })
    const version = pinOf(pins, path) ?? fact.initial
    const listed = found.get(label)?.versions.find((one) => one.version === version)
    if (listed === undefined || (isSent && !anchored.has(path))) return [label, fact]
    return [label, { ...fact, keys: listed.keys }]
  })
  return new Map(facts)
}

/** The most bytes of credential records in a transaction that also contains three copies of the spec. */
const MAX_CREDENTIAL_BYTES = 200 * 1024

function checkVersions(
  store: DeploymentDeps['store'],
  tenant: TenantId,
  { secrets }: DeploymentSpec,
  found: Credentials,
  needed: readonly SentMaterial[],
): Rejection[] {
  const long = checkRecordSize(
    needed.map((material) => [keysOf(material), found.get(material.label)]),
    MAX_CREDENTIAL_BYTES,
  )
  if (long !== undefined) return [long]
  const grown = needed
    .flatMap(({ label }) => found.get(label) ?? [])
    .filter(({ versions }) => versions.length > 1)
  if (grown.length === 0) return []
  const usesOf = gatherUses(store, tenant)
  return grown.flatMap((credential) => {
    const refusal = checkVersionRoom(credential, usesOf(credential))
    const index = secrets.findIndex(({ vault_path }) => vault_path === pathOf(credential))
    return refusal === undefined ? [] : [{ ...refusal, field: `${elementPath('secrets', index)}.values` }]
  })
}

function countChanges(
  spec: DeploymentSpec,
  before: SecretsQuestion['before'],
  found: Credentials,
  needed: readonly SentMaterial[],
  consumer = consumerOf('deployment', spec.name),
) {
  const labels = [...labelsOf(spec).keys()]
  const had = before === undefined ? [] : [...labelsOf(before.spec).keys()]
  const given = new Set(needed.map(({ label }) => label))
  const isWritten = (label: string) => given.has(label) || !found.get(label)?.consumers.includes(consumer)
  return {
    labels: labels.length,
    dropped: had.filter((label) => !labels.includes(label)).length,
    changed: labels.filter(isWritten).length,
  }
}

/**
 * Consumes the intents of the versions already in the secrets store, so that this transaction pins them. False if the
 * write needs other versions than those, or if an intent was abandoned. Throws if the spec contains secret values.
 */
export function consumeStaged(
  transaction: Transaction,
  spec: DeploymentSpec,
  { needed }: SecretsOfWrite,
  staged: readonly StagedMaterial[],
): boolean {
  requirePersistable(spec)
  if (!isStaged(needed, staged)) return false
  return consumeIntents(
    transaction,
    staged.map(({ stagedVersion }) => stagedVersion),
  )
}

/** Throws if the spec still contains secret values, which must never be stored; that would be a fault of the server. */
export function requirePersistable(spec: DeploymentSpec): void {
  const [material] = checkPersistable({ ...spec })
  if (material !== undefined) throw new UnstorableRecordError(`a deployment: ${material.code}`, material)
}

export function samePins(one: Pins = {}, other: Pins = {}): boolean {
  const labels = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...labels].every((label) => one[label] === other[label])
}

/** The field `pins` of a deployment record: the pinned secret versions, or no field if no version is pinned. */
export const storedPins = (pins: Pins): { pins?: { [label: string]: number } } =>
  Object.keys(pins).length === 0 ? {} : { pins: { ...pins } }
