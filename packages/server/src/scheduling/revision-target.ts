// What the replicas of a deployment are to be made of: its revision, and the hash that decides what is recreated. DECISIONS 4.

import { hash } from 'node:crypto'
import type { RevisionTarget } from '@holdfast/contract'
import { canonicalTemplate } from '@holdfast/core'
import type { StoredDeployment } from '../store/records.ts'

/** By the record, which is never changed but replaced: a deployment is looked at several times for each of its writes. */
const targets = new WeakMap<StoredDeployment, RevisionTarget>()

/** Undefined until a registry has said what the image is (DECISIONS 3). */
export function targetOf(stored: StoredDeployment): RevisionTarget | undefined {
  const { spec, digest, revision } = stored
  if (digest === null) return undefined
  const known = targets.get(stored)
  if (known !== undefined) return known
  const templateHash = hash('sha256', canonicalTemplate(spec, digest, stored), 'hex')
  const target = { revision, templateHash }
  targets.set(stored, target)
  return target
}
