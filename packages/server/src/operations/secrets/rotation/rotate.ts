// POST /deployments/{name}/secrets/rotate: one step of the rotation of one credential of a deployment, or of all of them in
// one transaction. DECISIONS 5, SAFETY 4d. Material that comes along is judged with everything else first, then staged, then
// listed by that transaction (SAFETY 4a); what the step gives up is destroyed only after it.

import type { Json, Rotation } from '@holdfast/contract'
import type { Decision } from '../../../store/store.ts'
import type { Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { destroyStaged } from '../versions/destroy-staged.ts'
import {
  destroyMaterial,
  planStagedMaterial,
  type StagedMaterial,
  stageMaterial,
} from '../versions/stage-material.ts'
import { type StagedVersion, storeUnavailable, takeIntent } from '../versions/stage-version.ts'
import { rotationView } from './read-rotation.ts'
import { judgeRotateBody } from './rotate-body.ts'
import type { RotateDeps, RotateRequest } from './rotate-deps.ts'
import { type JudgedRotation, judgeRotation } from './rotate-judge.ts'
import { writeRotation } from './rotate-write.ts'

export interface RotateOptions extends Kept<Rotation> {
  readonly dryRun?: boolean
}

export async function rotateSecrets(
  deps: RotateDeps,
  caller: Caller,
  path: string,
  sent: Json,
  options: RotateOptions,
): Promise<Outcome<Rotation>> {
  const { dryRun = false } = options
  const asked = judgeRotateBody(sent, deps.limits)
  if (!asked.ok) return asked
  const request = { caller, path, asked: asked.value }
  const staged = await stageAsked(deps, request, dryRun)
  if (!staged.ok) return staged
  const made = staged.value
  let pendingDestruction: readonly StagedVersion[] = []
  const outcome = await deps.store.transact<Outcome<Rotation>>((transaction) => {
    const judged = judgeRotation(deps, transaction, made === undefined ? request : { ...request, made })
    if (!judged.ok) return { kind: 'abort', result: judged }
    const decided = commitRotation(deps, transaction, request.caller, judged.value, options)
    pendingDestruction = decided.pendingDestruction
    return decided.decision
  })
  if (outcome.ok) await destroyStaged(deps, caller.tenant, pendingDestruction)
  else if (made !== undefined) await destroyMaterial(deps, caller, [made])
  return outcome
}

/** Judged in full before anything is staged: a request that is refused leaves no version behind. */
async function stageAsked(
  deps: RotateDeps,
  request: RotateRequest,
  dryRun: boolean,
): Promise<Outcome<StagedMaterial | undefined>> {
  const { material } = request.asked
  if (material === undefined) return done(undefined)
  const judged = await deps.store.transact<Outcome<JudgedRotation>>((transaction) => ({
    kind: 'abort',
    result: judgeRotation(deps, transaction, request),
  }))
  if (!judged.ok) return judged
  const [target] = judged.value.turns
  if (target === undefined) return done(undefined)
  const { namespace, label } = target.credential
  const make = dryRun ? planStagedMaterial : stageMaterial
  const made = await make(deps, request.caller, [{ namespace, label, ...material }])
  return made.ok ? done(made.value[0]) : made
}

function commitRotation(
  deps: RotateDeps,
  transaction: Transaction,
  caller: Caller,
  judged: JudgedRotation,
  options: RotateOptions,
): { decision: Decision<Outcome<Rotation>>; pendingDestruction: readonly StagedVersion[] } {
  const staged = judged.made?.staged
  if (staged !== undefined && !takeIntent(transaction, staged))
    return { decision: { kind: 'abort', result: refused(storeUnavailable()) }, pendingDestruction: [] }
  const { stored, credentials, pendingDestruction } = writeRotation(deps, transaction, caller, judged)
  const shown = rotationView(deps.store, caller.tenant, stored, credentials)
  if (options.dryRun)
    return {
      decision: { kind: 'abort', result: done({ ...shown, restarts: restartsOf(judged) }) },
      pendingDestruction: [],
    }
  return { decision: keepOnce(deps.answers, transaction, caller, options, shown), pendingDestruction }
}

/** Where pins move, every consumer of the credential is rolled over; the other steps restart nothing. */
function restartsOf({ turns }: JudgedRotation): string[] {
  const moved = turns.filter(({ turn }) => turn.pin !== undefined)
  return [...new Set(moved.flatMap(({ credential }) => credential.consumers))].sort()
}
