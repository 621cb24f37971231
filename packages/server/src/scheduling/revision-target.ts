// The target of a deployment's replicas: its revision, and the template hash that decides which replicas are recreated.

import { hash } from 'node:crypto'
import type { RevisionTarget } from '@holdfast/contract'
import { canonicalTemplate } from '@holdfast/core'
import type { StoredDeployment } from '../store/records.ts'

/** Cached per record object, which is replaced and never changed: a deployment is reconciled several times per write. */
const targets = new WeakMap<StoredDeployment, RevisionTarget>()

/** Undefined until a registry has resolved the image's digest. */
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
