// Collects the faults of one request body, in order, with their paths.

import { type Code, childPath, elementPath, type Json, type Rejection } from '@holdfast/contract'
import { boundedKey } from '../../bounded.ts'
import { safeKey } from '../../credentials/index.ts'
import { reject } from '../../reject.ts'
import type { Verdict } from './rule.ts'

/** Steps from the body to a value: field names and map keys as strings, list positions as numbers. */
export type Path = readonly (string | number)[]

export interface FaultList {
  readonly rejections: Rejection[]
  /** Field paths that were rejected. Rules across fields skip these paths. */
  readonly fields: Set<string>
  readonly topLevel: Set<string | number>
  readonly most: number
}

export function newFaultList(most: number): FaultList {
  return { rejections: [], fields: new Set(), topLevel: new Set(), most }
}

export function isFull(faults: FaultList): boolean {
  return faults.rejections.length >= faults.most
}

export function hasFaultAt(faults: FaultList, path: Path): boolean {
  return faults.fields.has(pathText(path))
}

export function addFault(
  faults: FaultList,
  code: Code,
  path: Path,
  value: Json | undefined,
  verdict: Verdict,
): void {
  const field = pathText(path)
  const [top] = path
  if (top !== undefined) faults.topLevel.add(top)
  if (isFull(faults)) return
  faults.fields.add(field)
  const rejection = reject(code, field, value, typeof verdict === 'boolean' ? {} : verdict.params)
  const isLast = faults.rejections.length + 1 === faults.most
  faults.rejections.push(isLast ? withRest(rejection, faults.most) : rejection)
}

/** The last rejection of a full list states that the list was cut, because a client would otherwise believe that the list is complete. */
function withRest(rejection: Rejection, most: number): Rejection {
  const listed = most === 1 ? 'Only the first fault is listed' : `Only the first ${most} faults are listed`
  return { ...rejection, why: `${rejection.why} ${listed}; there may be more once they are corrected.` }
}

/** A path as text. Its keys are redacted, because a client may have put a credential into a key. */
function pathText(path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? elementPath(text, step) : childPath(text, shownKey(step))),
    '',
  )
}

/** A key as the path of a rejection shows it: cut, and redacted if it looks like a credential. */
export const shownKey = (key: string): string => boundedKey(key, safeKey)
