// The records after a rotation step: the credential's own, and that of a deployment whose pins move. secretsVersion rises by
// one, however many pins move.

import type { Rotating } from '@holdfast/core'
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
  /** The deployment in the path of the request. */
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
  // Deployments without a pin use the initial version, so a destroyed one is replaced by the new version.
  const gone = initial !== null && destroyed.includes(initial)
  const ended = { ...kept, versions, initial: gone ? (before?.new ?? null) : initial }
  if (rotation === undefined || requester === undefined) return ended
  const { token, role, onBehalf, requestId } = requester.caller
  const askedBy = { token, role, onBehalf, requestId }
  return { ...ended, rotation: { ...rotation, since, startedBy: requester.deployment, askedBy } }
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

/** The cause of the revision, for its event and audit entry. */
export function rotatedCause({ spec, revision }: StoredDeployment, moved: MovedPins) {
  const pinned = [...moved].map(([label, version]) => `version ${version} of ${label}`).join(', ')
  return {
    verb: 'rotated',
    message: `Deployment ${spec.name} was moved to ${pinned}, revision ${revision}.`,
    data: { pins: Object.fromEntries(moved), secretsVersion: spec.secretsVersion },
  } as const
}
