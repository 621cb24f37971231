// May this step be done now, and what does it lead to for each credential it is asked for? DECISIONS 3 (rotate) and 5.

import type { Json, Rejection } from '@holdfast/contract'
import {
  blockers,
  checkQuotas,
  credentialPath,
  nextSteps,
  type RotationTurn,
  reject,
  turnRotation,
} from '@holdfast/core'
import { credentials, type StoredCredential, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { done, type Outcome, refused } from '../../caller.ts'
import { findToChange } from '../../deployments/read/find-deployment.ts'
import { gatherBytes } from '../../deployments/write/gather-facts.ts'
import { identifySpec } from '../../deployments/write/store-deployment.ts'
import { judgeSecretWrite } from '../judge-secret-write.ts'
import { newCredential } from '../versions/claim-credentials.ts'
import { keysOf, type StagedMaterial } from '../versions/stage-material.ts'
import type { RotateDeps, RotateRequest } from './rotate-deps.ts'
import { type GatheredRotation, gatherRotation } from './rotation-guards.ts'

export interface JudgedTurn {
  /** The entry's name. */
  readonly secret: string
  readonly credential: StoredCredential
  readonly turn: Extract<RotationTurn, { kind: 'turned' }>
}

export interface JudgedRotation {
  readonly step: string
  readonly stored: StoredDeployment
  readonly turns: readonly JudgedTurn[]
  readonly made: StagedMaterial | undefined
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
  const { caller, asked, made } = request
  const found = findToChange(deps.store, transaction, caller, request.path)
  if (!found.ok) return found
  const stored = found.value
  const misnamed = checkSecret(stored, request)
  if (misnamed !== undefined) return refused(misnamed)
  const targets = targetsOf(deps, transaction, stored, request)
  const step = asked.step ?? ''
  const turns = targets.map(({ secret, credential, facts }) => {
    const written = asked.material && (made?.version ?? nextNumber(credential))
    return { secret, credential, turn: turnRotation(facts, step, written) }
  })
  const isTurned = (each: (typeof turns)[number]): each is JudgedTurn => each.turn.kind === 'turned'
  const unfit = asked.material !== undefined && step !== 'stage'
  if (turns.length === 0 || unfit || turns.some(({ turn }) => turn.kind === 'refused'))
    return refused(transitionInvalid(asked.step, targets, unfit))
  if (!turns.every(isTurned)) return refused(reject('secret_write_empty', 'values', undefined))
  const full = [...checkMaterial(deps, request, turns), ...checkRoom(deps, caller.tenant, step, stored)]
  return full.length > 0 ? refused(...full) : done({ step, stored, turns, made })
}

/** Of the version to be, before it has one. */
const nextNumber = ({ versions }: StoredCredential): number => (versions.at(-1)?.version ?? 0) + 1

/** Material is that of one credential: where there are several, its name is wanted. */
function checkSecret({ spec }: StoredDeployment, { asked }: RotateRequest): Rejection | undefined {
  const { secret, material } = asked
  if (secret !== undefined && !spec.secrets.some(({ name }) => name === secret))
    return reject('secret_name_invalid', 'secret', secret)
  const paths = new Set(spec.secrets.map(({ vault_path }) => vault_path))
  if (secret === undefined && material !== undefined && paths.size > 1)
    return reject('secret_name_invalid', 'secret', undefined)
  return undefined
}

/** Two entries of one path are one credential. Each record that is asked for is compared at commit. */
function targetsOf(
  { store }: RotateDeps,
  transaction: Transaction,
  { spec }: StoredDeployment,
  { caller: { tenant }, asked }: RotateRequest,
): Target[] {
  const named = spec.secrets.filter(({ name }) => asked.secret === undefined || name === asked.secret)
  const byPath = new Map(named.toReversed().map(({ name, vault_path }) => [vault_path, name]))
  return [...byPath].toReversed().map(([path, secret]) => {
    const { namespace, label } = credentialPath(path)
    const credential =
      transaction.get(inTenant(tenant, credentials, label)) ?? newCredential(namespace, label)
    return { secret, credential, facts: gatherRotation(store, tenant, credential) }
  })
}

function checkMaterial(
  deps: RotateDeps,
  { caller, asked: { material } }: RotateRequest,
  [turn]: readonly JudgedTurn[],
): Rejection[] {
  if (material === undefined || turn === undefined) return []
  const { credential } = turn
  const { namespace, label } = credential
  const keys = keysOf({ namespace, label, ...material })
  return judgeSecretWrite(deps, { caller, namespace, label, keys }, credential, [])
}

/** The revision of a cutover takes room like any other. An abort is never refused for it. */
function checkRoom(
  deps: RotateDeps,
  tenant: RotateRequest['caller']['tenant'],
  step: string,
  { spec }: StoredDeployment,
): Rejection[] {
  return step === 'cutover' ? checkQuotas([gatherBytes(deps, tenant, identifySpec(spec).bytes)]) : []
}

const NAMED = 10

function transitionInvalid(
  received: Json | undefined,
  targets: readonly Target[],
  unfit: boolean,
): Rejection {
  const texts = targets.map(({ secret, facts }) => `${secret}: ${acceptedText(facts)}`)
  const phases = targets.map(({ facts }) => phaseText(facts))
  const none = 'none, for the deployment has no secrets'
  return reject('rotation_transition_invalid', 'phase', received, {
    accepted: unfit ? 'stage, which alone takes values or generate' : texts.join('; ') || none,
    current: [...new Set(phases)].join(' and ') || 'idle',
  })
}

function phaseText({ rotation }: GatheredRotation): string {
  return rotation?.aborting === true ? 'cutover, being taken back' : (rotation?.phase ?? 'idle')
}

function acceptedText(facts: GatheredRotation): string {
  const [next, ...others] = nextSteps(facts.rotation)
  const waits = blockers(facts)
  const more = waits.length > NAMED ? ` and ${waits.length - NAMED} more` : ''
  const until = waits.length === 0 ? '' : ` (waits: ${waits.slice(0, NAMED).join(', ')}${more})`
  return next === undefined ? `none yet${until}` : [`${next}${until}`, ...others].join(' or ')
}
