// The records after a rotation step: that of the credential, and that of a deployment whose pins change. secretsVersion
// rises by one, no matter how many pins change.

import { consumerOf, defined } from '@holdfast/contract'
import type { Rotating, StarterText } from '@holdfast/core'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type { StoredCredential, StoredDeployment } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { identifySpec } from '../../deployments/write/store-deployment.ts'

interface AdvancedRotation {
  readonly rotation: Rotating | undefined
  readonly destroyed: readonly number[]
}

interface RotationRequester {
  readonly caller: Caller
  /** Name of the deployment in the path of the rotation request. */
  readonly deployment: string
}

export function advancedCredential(
  credential: StoredCredential,
  { rotation, destroyed }: AdvancedRotation,
  since: string,
  requester: RotationRequester | undefined,
): StoredCredential {
  const { rotation: before, initial, ...kept } = credential
  const versions = credential.versions.filter(({ version }) => !destroyed.includes(version))
  // Deployments without a pin use the initial version, so if that version is destroyed, the new version
  // becomes the initial one.
  const gone = initial !== null && destroyed.includes(initial)
  const ended = { ...kept, versions, initial: gone ? (before?.new ?? null) : initial }
  if (rotation === undefined || requester === undefined) return ended
  const { token, tokenName, role, onBehalf, requestId } = requester.caller
  const askedBy = { token, role, onBehalf, requestId, ...defined({ tokenName }) }
  // Checkpoints are from after the last move of a cutover, so no other phase has any.
  const { checkpoints: _taken, ...phase } = rotation
  return {
    ...ended,
    rotation: { ...phase, since, startedBy: consumerOf('deployment', requester.deployment), askedBy },
  }
}

export type MovedPins = ReadonlyMap<string, number>

export function rotatedDeployment(
  clock: Clock,
  transaction: Transaction,
  stored: StoredDeployment,
  moved: MovedPins,
): StoredDeployment {
  const spec = { ...stored.spec, secretsVersion: stored.spec.secretsVersion + 1 }
  return {
    ...stored,
    spec,
    specHash: identifySpec(spec).specHash,
    revision: stored.revision + 1,
    updatedAt: timestamp(clock),
    tx: transaction.id,
    pins: { ...stored.pins, ...Object.fromEntries(moved) },
  }
}

/**
 * Why a rotation created the revision, for the revision's event and audit entry. `carriedOut` is set if the platform
 * moved the deployment after the request.
 */
export function rotatedCause(
  { spec, revision }: StoredDeployment,
  moved: MovedPins,
  carriedOut?: StarterText,
) {
  const pinned = [...moved].map(([label, version]) => `version ${version} of ${label}`).join(', ')
  return {
    verb: 'rotated',
    message: [
      `Deployment ${spec.name} was moved to ${pinned}, revision ${revision}.`,
      ...(carriedOut === undefined ? [] : [carriedOut.sentence]),
    ].join(' '),
    data: { pins: Object.fromEntries(moved), secretsVersion: spec.secretsVersion },
    ...defined({ detail: carriedOut?.detail }),
  } as const
}
