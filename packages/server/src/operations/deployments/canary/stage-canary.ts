// The parts of a deployment write that concern a canary: whether its step is possible, the record with it, and what a start
// stores in the transaction.

import {
  defined,
  deploymentBodyShape,
  type JsonObject,
  ownerOf,
  READ_ONLY_FIELDS,
  type Rejection,
  type Warning,
} from '@holdfast/contract'
import { type CanaryStart, checkCanaryPromotion, checkCanaryStart, desiredReplicas } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { CANARY_FORM } from '../../../store/records/collection.ts'
import {
  deployments,
  type StoredCanary,
  type StoredDeployment,
  type StoredPlacement,
} from '../../../store/records.ts'
import { inTenant, placementAt, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import type { Kept } from '../../idempotency.ts'
import { recordAudit, recordEvent } from '../../record-write.ts'
import { claimCredentials, emitSecretWritten, labelsOf } from '../../secrets/versions/claim-credentials.ts'
import type { DeploymentDeps } from '../deps.ts'
import { claimNetworks } from '../write/claim-networks.ts'
import { claimVolumes } from '../write/claim-volumes.ts'
import { requirePersistable, type SecretsOfWrite } from '../write/judge-secrets.ts'
import type { Written } from '../write/written.ts'
import { claimedSpec } from './end-canary.ts'

/** A canary that a client asks for, besides its change. */
export interface CanaryRequest extends Kept<Written> {
  readonly replicas: number
  readonly weight: number
  readonly observe: string
}

/** The canary that is promoted. */
export interface Promotion extends Kept<Written> {
  readonly startedAt: string
  readonly digest: string | undefined
  readonly force: boolean
}

/** Checks the canary again in the transaction: it may have been aborted, or replaced by another one. */
export function judgePromotion({ canary }: StoredDeployment, { startedAt, force }: Promotion): Rejection[] {
  return checkCanaryPromotion(canary?.startedAt === startedAt ? canary : undefined, force)
}

/** Without routes, a share of requests has no effect. */
export function weightWarning({ spec, canary }: StoredDeployment): Warning[] {
  if (canary === undefined || (spec.routes ?? []).length > 0) return []
  const why = 'The deployment has no routes, so the weight has no effect. The replicas of the canary run.'
  return [{ code: 'canary_weight_ignored', field: 'weight', why }]
}

/** Codes of fields that a deployment does not have or that a client may not send. */
const OF_ANY_FIELD: ReadonlySet<string> = new Set(['field_unknown', 'field_read_only'])

/** A rejection, warning or alteration of a field of the change names its place in the request. */
export function inChange<T extends Pick<Rejection, 'field'> & { readonly code: string }>(named: T): T {
  const [first = ''] = named.field.split(/[.[]/, 1)
  const isOfChange = Object.hasOwn(deploymentBodyShape.fields, first) || OF_ANY_FIELD.has(named.code)
  if (named.code === 'deployment_not_found') return named
  return isOfChange ? { ...named, field: `change.${named.field}` } : named
}

/** A revision that the controller has not seen yet is a rollout that has not begun. */
function rolloutOf(
  { revision }: StoredDeployment,
  placement: StoredPlacement | undefined,
): CanaryStart['rollout'] {
  const { rollout } = placement ?? {}
  if (placement?.revision !== revision) return 'under_way'
  if (rollout?.state === 'progressing') return rollout.watchedSince === undefined ? 'under_way' : 'watched'
  return rollout === undefined ? 'none' : 'failed'
}

/** Checks whether the deployment can have a canary now. */
export function judgeCanary(
  transaction: Transaction,
  { tenant }: Caller,
  stored: StoredDeployment,
  next: StoredDeployment,
  { replicas }: Pick<CanaryRequest, 'replicas'>,
): Rejection[] {
  const placement = transaction.get(placementAt(tenant, ownerOf('deployment', stored.uid)))
  return checkCanaryStart({
    replicas,
    own: desiredReplicas(stored),
    running: stored.canary,
    rollout: rolloutOf(stored, placement),
    // The same object is written for a change that changes nothing.
    isUnchanged: next === stored,
    specs: [stored.spec, next.spec],
  })
}

/** The deployment with its new canary. `next` is the revision that an update with the same change would store. */
export function withCanary(
  { clock }: Pick<DeploymentDeps, 'clock'>,
  stored: StoredDeployment,
  next: StoredDeployment,
  sent: JsonObject,
  { replicas, weight, observe }: CanaryRequest,
): StoredDeployment {
  const now = timestamp(clock)
  const canary: StoredCanary = {
    phase: 'progressing',
    reason: '',
    since: now,
    startedAt: now,
    replicas,
    weight,
    observe,
    failures: [],
    change: changeOf(next.spec, sent),
    digest: next.digest,
    ...defined({ pins: ownPins(stored, next) }),
  }
  return { ...stored, v: CANARY_FORM, canary }
}

const LEFT_OUT: ReadonlySet<string> = new Set([...READ_ONLY_FIELDS, 'kind', 'name', 'secretsVersion'])

/** The changed fields as they are stored: with defaults, without secret values, and null for a cleared field. */
function changeOf(spec: StoredDeployment['spec'], sent: JsonObject): JsonObject {
  const values: JsonObject = { ...spec }
  const fields = Object.keys(sent).filter((field) => !LEFT_OUT.has(field))
  return Object.fromEntries(fields.map((field) => [field, values[field] ?? null]))
}

/** The pins that differ from those of the deployment; undefined if none does. */
function ownPins({ pins: before = {} }: StoredDeployment, { pins = {} }: StoredDeployment) {
  const own = Object.entries(pins).filter(([label, version]) => before[label] !== version)
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

export function storeCanary(
  deps: Pick<DeploymentDeps, 'clock'>,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
  next: StoredDeployment,
  { newVersions }: Pick<SecretsOfWrite, 'newVersions'>,
): void {
  const { canary } = next
  if (canary === undefined) throw new TypeError('a canary must be started to be stored')
  const claimed = claimedSpec(next)
  requirePersistable(claimed)
  const { name } = next.spec
  claimVolumes(transaction, caller.tenant, stored, { ...next, spec: claimed })
  claimNetworks(transaction, caller.tenant, stored.spec, claimed)
  claimCredentials(transaction, caller.tenant, stored.spec, claimed, newVersions)
  transaction.put(inTenant(caller.tenant, deployments, name), next)
  const { replicas, weight, observe, startedAt, change } = canary
  const fields = Object.keys(change)
  recordEvent(transaction, deps.clock, caller.tenant, {
    type: 'deployment.canary_started',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid: next.uid },
    cause: startedAt,
    reason: 'started',
    message: `A canary of deployment ${name} was started with ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} (${fields.join(', ')}).`,
    data: { fields, replicas, weight, observe },
  })
  for (const [label, namespace] of newVersions.length === 0 ? [] : labelsOf(claimed))
    for (const { version } of newVersions.filter((one) => one.label === label))
      emitSecretWritten(transaction, deps.clock, caller.tenant, { namespace, label }, version)
  recordAudit(transaction, deps.clock, caller, {
    action: 'deployments:canary_started',
    subject: { kind: 'Deployment', name },
    revision: next.revision,
  })
}
