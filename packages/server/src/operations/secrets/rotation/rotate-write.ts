// What an accepted step of a rotation writes, in the transaction that it is given: each credential's record, what is to be
// destroyed, the revision of the deployment whose pins move, the event and the audit entry. DECISIONS 5 and 7.

import { pinOf } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { credentials, type StoredCredential, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { storeRevision } from '../../deployments/write/store-deployment.ts'
import { recordAudit, recordEvent } from '../../record-write.ts'
import { emitSecretWritten } from '../versions/emit-secret-written.ts'
import { markVersionsForDestruction } from '../versions/mark-for-destruction.ts'
import type { StagedVersion } from '../versions/stage-version.ts'
import { pathOf } from '../versions/version-uses.ts'
import type { RotateDeps } from './rotate-deps.ts'
import type { JudgedRotation, JudgedTurn } from './rotate-judge.ts'
import { askedToRotate, type MovedPins, rotatedDeployment, turnedCredential } from './rotated-records.ts'

interface WrittenRotation {
  /** As it is from now on. */
  readonly stored: StoredDeployment
  readonly credentials: ReadonlyMap<string, StoredCredential>
  readonly pendingDestruction: readonly StagedVersion[]
}

export function writeRotation(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  judged: JudgedRotation,
): WrittenRotation {
  const { tenant } = caller
  const written = new Map<string, StoredCredential>()
  const pendingDestruction: StagedVersion[] = []
  for (const judgedTurn of judged.turns) {
    const next = nextCredential(deps, caller, judged, judgedTurn)
    transaction.put(inTenant(tenant, credentials, next.label), next)
    written.set(next.label, next)
    if (judged.made?.label === next.label)
      emitSecretWritten(transaction, deps.clock, tenant, next, judged.made.version)
    pendingDestruction.push(
      ...markVersionsForDestruction(transaction, deps.clock, tenant, next, judgedTurn.turn.destroyed),
    )
  }
  const stored = moveAsker(deps, transaction, caller, judged)
  emitRotationStep(deps, transaction, caller, judged, stored)
  return { stored, credentials: written, pendingDestruction }
}

function nextCredential(
  { clock }: RotateDeps,
  caller: Caller,
  { stored, made }: JudgedRotation,
  { credential, turn }: JudgedTurn,
): StoredCredential {
  const now = timestamp(clock)
  const own = made?.label === credential.label ? made : undefined
  const versions =
    own === undefined
      ? credential.versions
      : [...credential.versions, { version: own.version, keys: [...own.keys], createdAt: now }]
  const listed = { ...credential, versions: versions.toSorted((a, b) => a.version - b.version) }
  return turnedCredential(listed, turn, now, { caller, deployment: stored.spec.name })
}

/** One revision for all of its credentials; none where no pin of it moves. */
function moveAsker(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  { stored, turns }: JudgedRotation,
): StoredDeployment {
  const moved: MovedPins = new Map(turns.flatMap((each) => movedPin(stored, each)))
  if (moved.size === 0) return stored
  const next = rotatedDeployment(deps.clock, transaction, stored, moved)
  storeRevision(deps, transaction, caller, next, { asked: askedToRotate(next, moved) })
  return next
}

/** A cutover always makes a revision; an abort only where the pin had moved. */
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
  const told = turns.map(({ secret, credential, turn }) => {
    const { old = null, new: next = null } = turn.rotation ?? credential.rotation ?? {}
    return { secret, path: pathOf(credential), old, new: next }
  })
  const paths = told.map(({ path }) => path).join(', ')
  recordEvent(transaction, clock, caller.tenant, {
    type: step === 'abort' ? 'secret.rotation_aborted' : 'secret.rotation_advanced',
    severity: step === 'abort' ? 'warning' : 'info',
    subject: { kind: 'Deployment', name, uid },
    cause: [step, ...told.map(({ path, new: next }) => `${path}@${next}`)].join(' '),
    reason: step,
    message:
      step === 'abort'
        ? `The rotation of ${paths} was aborted by deployment ${name}.`
        : `The rotation of ${paths} went on to ${step}, asked of deployment ${name}.`,
    data: { phase: step, credentials: told },
  })
  recordAudit(transaction, clock, caller, {
    action: `secrets:rotation-${step}`,
    subject: { kind: 'Deployment', name },
    revision,
    detail: { paths },
  })
}
