// The target of a deployment's replicas: the revision, and the template hash that decides which replicas are recreated.

import { hash } from 'node:crypto'
import type { RevisionTarget } from '@holdfast/contract'
import { canonicalTemplate } from '@holdfast/core'
import type { StoredDeployment } from '../store/records.ts'

/**
 * Cache of targets by deployment record, because a record is reconciled several times. A record object never changes.
 */
const targets = new WeakMap<StoredDeployment, RevisionTarget>()

/** The target of a deployment; undefined until a registry has resolved the digest of the image. */
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
