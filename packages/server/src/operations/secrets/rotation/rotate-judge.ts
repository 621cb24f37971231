// Decides whether one rotation step is allowed now, and what the step changes for each credential
// (docs/design/secrets.md#rotation).

import type { Json, Rejection } from '@holdfast/contract'
import { blockers, credentialPath, nextSteps, type RotationTurn, reject, turnRotation } from '@holdfast/core'
import { declassifyStored } from '../../../ports/taint.ts'
import { credentials, type StoredCredential, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { done, type Outcome, refused } from '../../caller.ts'
import { findToChange } from '../../deployments/read/find-deployment.ts'
import { judgeSecretWrite } from '../judge-secret-write.ts'
import { newCredential } from '../versions/claim-credentials.ts'
import { keysOf, type StagedMaterial } from '../versions/stage-material.ts'
import type { RotateDeps, RotateRequest } from './rotate-request.ts'
import { type GatheredRotation, gatherRotation } from './rotation-guards.ts'

export interface JudgedTurn {
  /** The name of the secret entry in the deployment. */
  readonly secret: string
  readonly credential: StoredCredential
  readonly turn: Extract<RotationTurn, { kind: 'turned' }>
}

export interface JudgedRotation {
  readonly step: string
  readonly stored: StoredDeployment
  readonly turns: readonly JudgedTurn[]
  readonly staged: StagedMaterial | undefined
}

interface Target {
  readonly secret: string
  readonly credential: StoredCredential
  readonly facts: GatheredRotation
}

export function judgeRotation(
  deps: RotateDeps,
  transaction: Transaction,
  request: RotateRequest,
): Outcome<JudgedRotation> {
  const { body, staged } = request
  const found = findToChange(deps.store, transaction, request.caller, request.path)
  if (!found.ok) return found
  const stored = found.value
  const misnamed = checkSecret(stored, request)
  if (misnamed !== undefined) return refused(misnamed)
  const targets = targetsOf(deps, transaction, stored, request)
  const step = body.step ?? ''
  const turns = targets.map(({ secret, credential, facts }) => {
    const written = body.material && (staged?.version ?? nextNumber(credential))
    return { secret, credential, turn: turnRotation(facts, step, written) }
  })
  const isTurned = (each: (typeof turns)[number]): each is JudgedTurn => each.turn.kind === 'turned'
  const unfit = body.material !== undefined && step !== 'stage'
  if (turns.length === 0 || unfit || turns.some(({ turn }) => turn.kind === 'refused'))
    return refused(transitionInvalid(body.step, targets, unfit))
  if (!turns.every(isTurned)) return refused(reject('secret_write_empty', 'values', undefined))
  // No step adds bytes to a spec, so a full byte quota rejects none, as it rejects no update that adds no bytes.
  const faults = checkMaterial(deps, request, turns)
  return faults.length > 0 ? refused(...faults) : done({ step, stored, turns, staged })
}

/** The number of a credential's next version, if no other write comes first. */
const nextNumber = ({ versions }: StoredCredential): number => (versions.at(-1)?.version ?? 0) + 1

/** Secret values belong to one credential, so for a deployment with several credentials the request must name one. */
function checkSecret({ spec }: StoredDeployment, { body }: RotateRequest): Rejection | undefined {
  const { secret, material } = body
  if (secret !== undefined && !spec.secrets.some(({ name }) => name === secret))
    return reject('secret_name_invalid', 'secret', secret)
  const paths = new Set(spec.secrets.map(({ vault_path }) => vault_path))
  if (secret === undefined && material !== undefined && paths.size > 1)
    return reject('secret_name_invalid', 'secret', undefined)
  return undefined
}

/**
 * The credentials to rotate; secret entries with the same path share one credential. Each record is compared at commit.
 */
function targetsOf(
  { store }: RotateDeps,
  transaction: Transaction,
  { spec }: StoredDeployment,
  { caller: { tenant }, body }: RotateRequest,
): Target[] {
  const named = spec.secrets.filter(({ name }) => body.secret === undefined || name === body.secret)
  const byPath = new Map(named.toReversed().map(({ name, vault_path }) => [vault_path, name]))
  return [...byPath].toReversed().map(([path, secret]) => {
    const { namespace, label } = credentialPath(path)
    const credential =
      transaction.get(inTenant(tenant, credentials, label)) ?? newCredential(namespace, label)
    declassifyStored(credential)
    return { secret, credential, facts: gatherRotation(store, tenant, credential) }
  })
}

function checkMaterial(
  deps: RotateDeps,
  { caller, body: { material } }: RotateRequest,
  [turn]: readonly JudgedTurn[],
): readonly Rejection[] {
  if (material === undefined || turn === undefined) return []
  const { credential } = turn
  const { namespace, label } = credential
  const keys = keysOf({ namespace, label, ...material })
  const write = { caller, namespace, label, sent: { keys, bytes: 0 }, patch: false }
  return judgeSecretWrite(deps, write, credential, []).faults
}

const NAMED = 10

function transitionInvalid(
  received: Json | undefined,
  targets: readonly Target[],
  unfit: boolean,
): Rejection {
  const texts = targets.map(({ secret, facts }) => `${secret}: ${acceptedText(facts)}`)
  const phases = targets.map(({ facts }) => phaseText(facts))
  const none = 'none: the deployment has no secrets'
  return reject('rotation_transition_invalid', 'phase', received, {
    accepted: unfit ? 'stage, the only phase that accepts values or generate' : texts.join('; ') || none,
    current: [...new Set(phases)].join(' and ') || 'idle',
  })
}

function phaseText({ rotation }: GatheredRotation): string {
  return rotation?.aborting === true ? 'cutover, being aborted' : (rotation?.phase ?? 'idle')
}

function acceptedText(facts: GatheredRotation): string {
  const [next, ...others] = nextSteps(facts.rotation)
  const waits = blockers(facts)
  const more = waits.length > NAMED ? ` and ${waits.length - NAMED} more` : ''
  const until = waits.length === 0 ? '' : ` (waits: ${waits.slice(0, NAMED).join(', ')}${more})`
  return next === undefined ? `none yet${until}` : [`${next}${until}`, ...others].join(' or ')
}
