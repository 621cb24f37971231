// Invariants of scaling policies: the number stays within the bounds, a step is at most the larger of doubling and four more,
// a stopped deployment is left alone, and replicas are removed only after the delay.

import { type DeploymentUid, durationMs } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { scalingSteps } from './steps.ts'

export const scalingBounds: Invariant = {
  name: 'scaling-bounds',
  start: () =>
    function* (moment) {
      for (const { is } of moment.deployments.changed) {
        if (is?.scaling === undefined) continue
        const { desired, policy } = is.scaling
        if (desired < policy.min || desired > policy.max)
          yield {
            subject: is.spec.name,
            message: `has ${desired} replicas, and its policy allows ${policy.min} to ${policy.max}`,
          }
      }
      for (const { stored, from, to } of scalingSteps(moment)) {
        if (stored.deleting || stored.spec.replicas === 0)
          yield { subject: stored.spec.name, message: `is stopped and was scaled from ${from} to ${to}` }
        if (to > Math.max(2 * from, from + 4))
          yield { subject: stored.spec.name, message: `was scaled from ${from} to ${to} in one step` }
      }
    },
}

export const scalingDelay: Invariant = {
  name: 'scaling-delay',
  start() {
    /** When the delay of a deployment began at the earliest: a new spec, a new policy, or more replicas. */
    const begun = new Map<DeploymentUid, { readonly at: number; readonly of: string }>()
    return function* (moment) {
      const { now } = moment
      for (const { is } of moment.deployments.changed) {
        const of = `${is?.revision}/${is?.scaling?.revision}`
        if (is?.scaling !== undefined && begun.get(is.uid)?.of !== of) begun.set(is.uid, { at: now, of })
      }
      for (const { stored, scaling, from, to } of scalingSteps(moment)) {
        const known = begun.get(stored.uid)
        const waitedMs = now - (known?.at ?? now)
        if (to < from && waitedMs < (durationMs(scaling.policy.scaleDownDelay) ?? 0))
          yield {
            subject: stored.spec.name,
            message: `was scaled from ${from} to ${to} after ${waitedMs} of ${scaling.policy.scaleDownDelay}`,
          }
        if (to > from && known !== undefined) begun.set(stored.uid, { ...known, at: now })
      }
    }
  },
}
