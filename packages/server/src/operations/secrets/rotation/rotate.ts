// POST /deployments/{name}/secrets/rotate: advances the rotation of one credential of a deployment, or of all of them in
// one transaction (docs/design/secrets.md#rotation). Secret values in the request are checked, then written to the
// secrets store, then listed by that transaction. Versions that the step retires are destroyed after the transaction.

import { defined, type Json, type Rotation } from '@holdfast/contract'
import type { TransactionDecision } from '../../../store/store.ts'
import type { Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { destroyStaged } from '../versions/destroy-versions.ts'
import { consumeIntent, type StagedVersion } from '../versions/intents.ts'
import { destroyMaterial, type StagedMaterial, stageMaterial } from '../versions/stage-material.ts'
import { storeUnavailable } from '../versions/stage-version.ts'
import { rotationView } from './read-rotation.ts'
import { type JudgedRotation, judgeRotation } from './rotate-judge.ts'
import { judgeRotateBody, type RotateDeps, type RotateRequest } from './rotate-request.ts'
import { writeRotation } from './rotate-write.ts'

export async function rotateSecrets(
  deps: RotateDeps,
  caller: Caller,
  path: string,
  sent: Json,
  options: Kept<Rotation>,
): Promise<Outcome<Rotation>> {
  const body = judgeRotateBody(sent, deps.limits)
  if (!body.ok) return body
  const request = { caller, path, body: body.value }
  const staging = await stageSentMaterial(deps, request)
  if (!staging.ok) return staging
  const staged = staging.value
  let toDestroy: readonly StagedVersion[] = []
  const outcome = await deps.store.transact<Outcome<Rotation>>((transaction) => {
    const judged = judgeRotation(deps, transaction, { ...request, ...defined({ staged }) })
    if (!judged.ok) return { kind: 'abort', result: judged }
    const committed = commitRotation(deps, transaction, request.caller, judged.value, options)
    toDestroy = committed.toDestroy
    return committed.decision
  })
  if (outcome.ok) await destroyStaged(deps, caller.tenant, toDestroy)
  else if (staged !== undefined) await destroyMaterial(deps, caller, [staged])
  return outcome
}

/** Checks the whole request before writing to the secrets store, so that a rejected request leaves no version there. */
async function stageSentMaterial(
  deps: RotateDeps,
  request: RotateRequest,
): Promise<Outcome<StagedMaterial | undefined>> {
  const { material } = request.body
  if (material === undefined) return done(undefined)
  const judged = await deps.store.transact<Outcome<JudgedRotation>>((transaction) => ({
    kind: 'abort',
    result: judgeRotation(deps, transaction, request),
  }))
  if (!judged.ok) return judged
  const [target] = judged.value.turns
  if (target === undefined) return done(undefined)
  const { namespace, label } = target.credential
  const staged = await stageMaterial(deps, request.caller, [{ namespace, label, ...material }])
  return staged.ok ? done(staged.value[0]) : staged
}

function commitRotation(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  judged: JudgedRotation,
  options: Kept<Rotation>,
): { decision: TransactionDecision<Outcome<Rotation>>; toDestroy: readonly StagedVersion[] } {
  const version = judged.staged?.stagedVersion
  if (version !== undefined && !consumeIntent(transaction, version))
    return { decision: { kind: 'abort', result: refused(storeUnavailable()) }, toDestroy: [] }
  const { stored, credentials, toDestroy } = writeRotation(deps, transaction, caller, judged)
  const shown = rotationView(deps.store, caller.tenant, stored, credentials)
  return { decision: keepOnce(deps.answers, transaction, caller, options, shown), toDestroy }
}
