// What a step of a rotation makes of the records it touches: the credential's own, and that of a deployment whose pins move.
// DECISIONS 5: secretsVersion rises by one, whatever the number of pins.

import type { Rotating } from '@holdfast/core'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type { StoredCredential, StoredDeployment } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { identifySpec } from '../../deployments/write/store-deployment.ts'

interface TurnedRotation {
  readonly rotation: Rotating | undefined
  readonly destroyed: readonly number[]
}

interface Asker {
  readonly caller: Caller
  /** The deployment that it was asked of. */
  readonly deployment: string
}

export function turnedCredential(
  credential: StoredCredential,
  { rotation, destroyed }: TurnedRotation,
  since: string,
  asker: Asker | undefined,
): StoredCredential {
  const { rotation: before, initial, ...kept } = credential
  const versions = credential.versions.filter(({ version }) => !destroyed.includes(version))
  // Nobody follows the first version any more when it goes, and nobody may begin to.
  const gone = initial !== null && destroyed.includes(initial)
  const ended = { ...kept, versions, initial: gone ? (before?.new ?? null) : initial }
  if (rotation === undefined || asker === undefined) return ended
  const { token, role, onBehalf, requestId } = asker.caller
  const askedBy = { token, role, onBehalf, requestId }
  return { ...ended, rotation: { ...rotation, since, startedBy: asker.deployment, askedBy } }
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
    ...{ spec, specHash: identifySpec(spec).specHash, revision: stored.revision + 1 },
    ...{ updatedAt: timestamp(clock), tx: transaction.id },
    pins: { ...stored.pins, ...Object.fromEntries(moved) },
  }
}

/** As the event and the audit entry of a revision tell it. */
export function askedToRotate({ spec, revision }: StoredDeployment, moved: MovedPins) {
  const pinned = [...moved].map(([label, version]) => `${label} to version ${version}`).join(', ')
  return {
    verb: 'rotated',
    message: `Deployment ${spec.name} goes on with ${pinned}, revision ${revision}.`,
    data: { pins: Object.fromEntries(moved), secretsVersion: spec.secretsVersion },
  } as const
}
