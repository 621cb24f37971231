// The part of an update that concerns a canary: an update may start one, promote one, or supersede the one that runs.

import { isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import type { StoredDeployment } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import type { Caller, Refused } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { JudgedWrite } from '../write/judge-write.ts'
import { supersededCanary, supersededWarning } from './end-canary.ts'
import {
  type CanaryRequest,
  inChange,
  judgeCanary,
  judgePromotion,
  type Promotion,
  weightWarning,
  withCanary,
} from './stage-canary.ts'

export interface CanaryOfUpdate {
  /** Set if the change becomes a canary instead of a revision. */
  readonly canary?: CanaryRequest
  /** Set if the update promotes a canary, whose change it sends. */
  readonly promotion?: Promotion
}

/** The deployment before and after the update; the same object if the update changes nothing. */
interface Update {
  readonly stored: StoredDeployment
  readonly next: StoredDeployment
}

type Announced = Pick<JudgedWrite, 'alterations' | 'warnings'>

/** Rejections that name the fields of a canary's change by their place in the request. */
export const ofChange = <T extends Refused>(judged: T): T => ({
  ...judged,
  rejections: judged.rejections.map(inChange),
})

/** Checks the state of the canary that the write starts or promotes. */
export function judgeSteps(
  transaction: Transaction,
  caller: Caller,
  { canary, promotion }: CanaryOfUpdate,
  { stored, next }: Update,
): Rejection[] {
  if (canary !== undefined) return judgeCanary(transaction, caller, stored, next, canary)
  return promotion === undefined ? [] : judgePromotion(stored, promotion)
}

/** The record to store: the next revision, or the current one with a canary. The same object if nothing changes. */
export function writtenRecord(
  deps: Pick<DeploymentDeps, 'clock'>,
  sent: Json,
  { canary, promotion }: CanaryOfUpdate,
  { stored, next }: Update,
): StoredDeployment {
  if (canary !== undefined && isJsonObject(sent)) return withCanary(deps, stored, next, sent, canary)
  if (next === stored) return next
  const { canary: _ended, ...kept } = next
  return promotion === undefined ? { ...kept, ...supersededCanary(stored, deps.clock) } : kept
}

/** The announcements of an update, and those about its canary. */
export function announcedBy(
  { stored, alterations, warnings }: Announced & Pick<Update, 'stored'>,
  next: StoredDeployment,
  { canary, promotion }: CanaryOfUpdate,
): Announced {
  if (canary !== undefined)
    return {
      alterations: alterations.map(inChange),
      warnings: [...warnings.map(inChange), ...weightWarning(next)],
    }
  const ended = next === stored || promotion !== undefined ? [] : supersededWarning(stored)
  return { alterations, warnings: [...warnings, ...ended] }
}
