// Does a revision fit into one transaction? The record, its archive entry and a kept answer each hold the spec, and the store
// takes 1.5 MiB at once (SAFETY 4a). Escapes can make a sound body three times as long as it was. And no transaction has over
// 120 compares or writes, of which references, routes and above all new secret material take several each.

import type { DeploymentSpec, Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { SecretsOfWrite } from './judge-secrets.ts'
import type { SpecIdentity } from './store-deployment.ts'

const MAX_SPEC_BYTES = 400 * 1024

export function checkSpecSize({ bytes }: SpecIdentity): Rejection[] {
  return bytes <= MAX_SPEC_BYTES ? [] : [reject('body_too_large', 'body', undefined, { max: MAX_SPEC_BYTES })]
}

const MAX_OPERATIONS = 120
/** Caller, tenant, record, kept answer, slot, first intent; or these but the first two, archive, event, audit entry. */
const ALWAYS = 7
/** The event, the slot, and the credential itself. */
const PER_MATERIAL = 3

interface Sized {
  readonly spec: Pick<DeploymentSpec, 'routes' | 'secrets'>
  readonly before: Pick<DeploymentSpec, 'routes'> | undefined
  readonly secrets: Pick<SecretsOfWrite, 'counts' | 'crowded'>
  /** Other deployments that were read. */
  readonly dependencies: number
  /** Why no registry has said what the image is: that is told by an event of its own. */
  readonly unresolved: string | undefined
}

/** In the transaction, and in the store for one more version of what gets one. Lists that each are within their limits may be too much together where all of them are replaced at once. */
export function checkRoom({ spec, before, secrets, dependencies, unresolved }: Sized): Rejection[] {
  const [routes, routesBefore] = [spec.routes?.length ?? 0, before?.routes?.length ?? 0]
  const { labels, dropped, changed, brought, first } = secrets.counts
  const compares = ALWAYS + dependencies + routes + labels + dropped + first
  const told = unresolved === undefined ? 0 : 1
  const writes = ALWAYS + told + routes + routesBefore + changed + dropped + brought + first
  const excess = Math.max(compares, writes) - MAX_OPERATIONS
  if (excess <= 0) return [...secrets.crowded]
  const max = Math.max(1, spec.secrets.length - Math.ceil(excess / PER_MATERIAL))
  return [reject('list_too_long', 'secrets', `${spec.secrets.length} entries`, { max }), ...secrets.crowded]
}
