// Writes an accepted rotation step in the given transaction: each credential's record, the versions to destroy, the
// revision of the deployment whose pins change, the event and the audit entry.

import { defined } from '@holdfast/contract'
import { pinOf } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { declassifyStored } from '../../../ports/taint.ts'
import { credentials, type StoredCredential, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { storeRevision } from '../../deployments/write/store-deployment.ts'
import { recordAudit, recordEvent } from '../../record-write.ts'
import { emitSecretWritten } from '../versions/claim-credentials.ts'
import { markVersionsForDestruction } from '../versions/destroy-versions.ts'
import type { StagedVersion } from '../versions/intents.ts'
import { pathOf } from '../versions/version-uses.ts'
import type { JudgedRotation, JudgedTurn } from './rotate-judge.ts'
import type { RotateDeps } from './rotate-request.ts'
import { advancedCredential, type MovedPins, rotatedCause, rotatedDeployment } from './rotated-records.ts'

interface WrittenRotation {
  /** The deployment after the rotation step. */
  readonly stored: StoredDeployment
  readonly credentials: ReadonlyMap<string, StoredCredential>
  readonly toDestroy: readonly StagedVersion[]
}

export function writeRotation(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  judged: JudgedRotation,
): WrittenRotation {
  const { tenant } = caller
  declassifyStored(judged.stored)
  const written = new Map<string, StoredCredential>()
  const toDestroy: StagedVersion[] = []
  for (const judgedTurn of judged.turns) {
    const next = nextCredential(deps, caller, judged, judgedTurn)
    transaction.put(inTenant(tenant, credentials, next.label), next)
    written.set(next.label, next)
    if (judged.staged?.label === next.label)
      emitSecretWritten(transaction, deps.clock, tenant, next, judged.staged.version)
    toDestroy.push(
      ...markVersionsForDestruction(transaction, deps.clock, tenant, next, judgedTurn.turn.destroyed),
    )
  }
  const stored = movePins(deps, transaction, caller, judged)
  emitRotationStep(deps, transaction, caller, judged, stored)
  return { stored, credentials: written, toDestroy }
}

function nextCredential(
  { clock }: RotateDeps,
  caller: Caller,
  { stored, staged }: JudgedRotation,
  { credential, turn }: JudgedTurn,
): StoredCredential {
  const now = timestamp(clock)
  const own = staged?.label === credential.label ? staged : undefined
  const versions =
    own === undefined
      ? credential.versions
      : [
          ...credential.versions,
          {
            version: own.version,
            keys: [...own.keys],
            bytes: own.bytes,
            createdAt: now,
            ...defined({ storedAt: own.stagedVersion.storedAt }),
          },
        ]
  const listed = { ...credential, versions: versions.toSorted((a, b) => a.version - b.version) }
  return advancedCredential(listed, turn, now, { caller, deployment: stored.spec.name })
}

/** Creates one deployment revision for all pins that change; none if no pin of the deployment changes. */
function movePins(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  { stored, turns }: JudgedRotation,
): StoredDeployment {
  const moved: MovedPins = new Map(turns.flatMap((each) => movedPin(stored, each)))
  if (moved.size === 0) return stored
  const next = rotatedDeployment(deps.clock, transaction, stored, moved)
  storeRevision(deps, transaction, caller, next, { cause: rotatedCause(next, moved) })
  return next
}

/** The new pin of a credential, if the step changes the pin. A cutover always does; an abort, if the pin was changed. */
function movedPin(stored: StoredDeployment, { credential, turn }: JudgedTurn): [string, number][] {
  const { pin, rotation } = turn
  if (pin === undefined) return []
  const used = pinOf(stored.pins, pathOf(credential)) ?? credential.initial
  return rotation?.aborting === true && used !== rotation.new ? [] : [[credential.label, pin]]
}

function emitRotationStep(
  { clock }: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  { step, turns }: JudgedRotation,
  { spec: { name }, uid, revision }: StoredDeployment,
): void {
  const rotated = turns.map(({ secret, credential, turn }) => {
    const { old = null, new: next = null } = turn.rotation ?? credential.rotation ?? {}
    return { secret, path: pathOf(credential), old, new: next }
  })
  const paths = rotated.map(({ path }) => path).join(', ')
  recordEvent(transaction, clock, caller.tenant, {
    type: step === 'abort' ? 'secret.rotation_aborted' : 'secret.rotation_advanced',
    severity: step === 'abort' ? 'warning' : 'info',
    subject: { kind: 'Deployment', name, uid },
    cause: [step, ...rotated.map(({ path, new: next }) => `${path}@${next}`)].join(' '),
    reason: step,
    message:
      step === 'abort'
        ? `The rotation of ${paths} was aborted, requested for deployment ${name}.`
        : `The rotation of ${paths} advanced to ${step}, requested for deployment ${name}.`,
    data: { phase: step, credentials: rotated },
  })
  recordAudit(transaction, clock, caller, {
    action: `secrets:rotation-${step}`,
    subject: { kind: 'Deployment', name },
    revision,
    detail: { paths },
  })
}
