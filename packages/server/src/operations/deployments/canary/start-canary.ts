// POST /api/v1/deployments/{name}/canary: admits a change as an update would be, and stores it beside the spec instead of
// as a revision. The controller then runs it in its own replicas. See docs/design/canaries.md#start

import { decode, durationMs, type Json, jsonText, newCanaryShape, type Rejection } from '@holdfast/contract'
import { CANARY_DEFAULTS, checkCanaryReplicas, checkCanaryWeight, reject } from '@holdfast/core'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { Kept } from '../../idempotency.ts'
import type { DeploymentDeps } from '../deps.ts'
import { updateDeployment } from '../write/update-deployment.ts'
import type { Written } from '../write/written.ts'

export interface CanaryOptions extends Kept<Written> {
  readonly ifMatch: string | undefined
}

export async function startCanary(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  { ifMatch, ...kept }: CanaryOptions,
): Promise<Outcome<Written>> {
  const faults = checkShape(newCanaryShape, sent, { checks: CHECKS })
  if (faults.length > 0) return refused(...faults)
  const { change, replicas, weight, observe = CANARY_DEFAULTS.observe } = decode(newCanaryShape, sent)
  const canary = { ...kept, replicas, weight, observe }
  return updateDeployment(deps, caller, pathName, change, { ifMatch, canary })
}

const MAX_CHANGE_BYTES = 64 * 1024

const CHECKS = {
  change: (value: Json): Rejection | undefined =>
    Buffer.byteLength(jsonText(value)) > MAX_CHANGE_BYTES
      ? reject('body_too_large', 'change', undefined, { max: MAX_CHANGE_BYTES })
      : undefined,
  replicas: checkCanaryReplicas,
  weight: checkCanaryWeight,
  observe: (value: Json): Rejection | undefined => {
    const ms = typeof value === 'string' ? durationMs(value) : undefined
    const isInRange =
      ms !== undefined && ms >= CANARY_DEFAULTS.observeMinMs && ms <= CANARY_DEFAULTS.observeMaxMs
    return isInRange
      ? undefined
      : reject('field_type_invalid', 'observe', value, { accepted: 'a duration from 1s to 24h' })
  },
}
