// What a write does to the secrets of a deployment, as its transaction decides it: which credentials it refers to, which
// versions it brings, and which ones its containers are made with. DECISIONS 5, Secret versions.

import {
  type Alteration,
  type DeploymentSpec,
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
  type SentMaterial,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { UnstorableRecordError } from '../../../store/encode.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { checkRecordSize } from '../../secrets/judge-secret-write.ts'
import {
  type BroughtVersion,
  type Credentials,
  credentialFacts,
  gatherCredentials,
  labelsOf,
} from '../../secrets/versions/claim-credentials.ts'
import { checkVersionRoom } from '../../secrets/versions/prune-versions.ts'
import { isStaged, keysOf, planMaterial, type StagedMaterial } from '../../secrets/versions/stage-material.ts'
import { takeIntents } from '../../secrets/versions/stage-version.ts'
import { gatherUses, pathOf } from '../../secrets/versions/version-uses.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { InHand } from './write-with-material.ts'

export interface SecretsOfWrite {
  /** For the rules on facts. */
  readonly facts: ReadonlyMap<string, CredentialFact>
  /** Of the credentials that would get their first version. */
  readonly quotas: readonly QuotaFact[]
  /** Of credentials that would be too long, or of which the store would forget a version that is in use. */
  readonly crowded: readonly Rejection[]
  readonly pins: Pins
  readonly alterations: readonly Alteration[]
  readonly wanted: readonly SentMaterial[]
  readonly brought: readonly BroughtVersion[]
  /** What it takes of a transaction (SAFETY 4a). */
  readonly counts: SecretCounts
  /** Slots are being decided on by others: the decision must wait. */
  readonly busy?: Promise<void>
}

/** Of credentials: referred to, no longer referred to, written to, given a version, given their first. */
export interface SecretCounts {
  readonly labels: number
  readonly dropped: number
  readonly changed: number
  readonly brought: number
  readonly first: number
}

export interface SecretsQuestion {
  readonly spec: DeploymentSpec
  readonly before: Pick<StoredDeployment, 'spec' | 'pins'> | undefined
  readonly material: readonly SentMaterial[]
}

/** DECISIONS 8: whoever may not write secrets may refer to them and bring none. */
export function mayBring({ role }: Caller): { readonly materialForbidden: boolean } {
  return { materialForbidden: !may(role, 'secrets:write') }
}

export function gatherSecrets(
  { store, clock }: Pick<DeploymentDeps, 'store' | 'clock'>,
  transaction: Transaction,
  tenant: TenantId,
  { spec, before, material }: SecretsQuestion,
  { made, slots }: InHand,
): SecretsOfWrite {
  const found = gatherCredentials(transaction, tenant, spec)
  const facts = credentialFacts(found)
  const wanted = planMaterial(material, facts)
  const first = wanted.filter(({ label }) => (found.get(label)?.slot ?? null) === null)
  const choice = slots.choose(first.length)
  const { pins, alterations } = planPins({
    entries: spec.secrets,
    before: before?.spec.secrets ?? [],
    pins: before?.pins ?? {},
    credentials: facts,
    staged: new Map(made.map(({ label, version }) => [label, version])),
  })
  const slotOf = new Map(
    choice.kind === 'free' ? first.map(({ label }, at) => [label, choice.slots[at]] as const) : [],
  )
  const createdAt = timestamp(clock)
  return {
    ...{ facts: withKnownKeys(facts, spec, found, pins, wanted), pins, alterations, wanted },
    quotas: choice.kind === 'full' ? [choice.quota] : [],
    crowded: checkVersions(store, tenant, spec, found, wanted),
    brought: made.map(({ label, version, keys }) => ({
      ...{ label, version, keys: [...keys], createdAt },
      slot: slotOf.get(label),
    })),
    counts: { ...countChanges(spec, before, found, wanted), brought: wanted.length, first: first.length },
    ...(choice.kind === 'busy' ? { busy: choice.until } : {}),
  }
}

/** What a write brings is what its containers are made with, unless a volume keeps them where they are (DECISIONS 5). */
function withKnownKeys(
  known: ReadonlyMap<string, CredentialFact>,
  { secrets }: DeploymentSpec,
  found: Credentials,
  pins: Pins,
  wanted: readonly SentMaterial[],
): ReadonlyMap<string, CredentialFact> {
  const anchored = new Set(
    secrets.filter(({ anchor }) => anchorVolume(anchor) !== undefined).map(({ vault_path }) => vault_path),
  )
  const facts = [...known].map(([label, fact]): [string, CredentialFact] => {
    const isBrought = wanted.some((material) => material.label === label)
    const path = pathOf({ namespace: fact.namespace, label })
    const version = pinOf(pins, path) ?? fact.initial
    const listed = found.get(label)?.versions.find((one) => one.version === version)
    if (listed === undefined || (isBrought && !anchored.has(path))) return [label, fact]
    return [label, { ...fact, keys: listed.keys }]
  })
  return new Map(facts)
}

/** What the transaction has room for beside three copies of the spec (SAFETY 4a). */
const MAX_CREDENTIAL_BYTES = 200 * 1024

function checkVersions(
  store: DeploymentDeps['store'],
  tenant: TenantId,
  { secrets }: DeploymentSpec,
  found: Credentials,
  wanted: readonly SentMaterial[],
): Rejection[] {
  const long = checkRecordSize(
    wanted.map((material) => [keysOf(material), found.get(material.label)]),
    MAX_CREDENTIAL_BYTES,
  )
  if (long !== undefined) return [long]
  const grown = wanted
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
  wanted: readonly SentMaterial[],
) {
  const labels = [...labelsOf(spec).keys()]
  const had = before === undefined ? [] : [...labelsOf(before.spec).keys()]
  const given = new Set(wanted.map(({ label }) => label))
  const isWritten = (label: string) => given.has(label) || !found.get(label)?.consumers.includes(spec.name)
  return {
    labels: labels.length,
    dropped: had.filter((label) => !labels.includes(label)).length,
    changed: labels.filter(isWritten).length,
  }
}

/**
 * Whether the versions that this write wants are there to be pinned, and still nobody else's: their intents end with it. What
 * would be stored is looked at before anything is staged for it.
 */
export function takeMaterial(
  transaction: Transaction,
  spec: DeploymentSpec,
  { wanted }: SecretsOfWrite,
  made: readonly StagedMaterial[],
): boolean {
  requirePersistable(spec)
  if (!isStaged(wanted, made)) return false
  return takeIntents(
    transaction,
    made.flatMap(({ staged }) => staged ?? []),
  )
}

/** SPEC 2.4: material is given at the write and never kept. Throws, because it is our own fault where some is left. */
export function requirePersistable(spec: DeploymentSpec): void {
  const [material] = checkPersistable({ ...spec })
  if (material !== undefined) throw new UnstorableRecordError(`a deployment: ${material.code}`, material)
}

export function samePins(one: Pins = {}, other: Pins = {}): boolean {
  const labels = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...labels].every((label) => one[label] === other[label])
}

/** As a record holds them: none rather than an empty map. */
export const storedPins = (pins: Pins): { pins?: { [label: string]: number } } =>
  Object.keys(pins).length === 0 ? {} : { pins: { ...pins } }
