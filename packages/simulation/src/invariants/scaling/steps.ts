// Finds the steps of scaling policies between two moments: a changed number of a policy and a spec that stayed the same.

import type { DeploymentUid, TenantId } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import type { Moment } from '../moment.ts'

type Scaling = NonNullable<StoredDeployment['scaling']>

export interface ScalingStep {
  readonly tenant: TenantId
  readonly stored: StoredDeployment
  readonly scaling: Scaling
  readonly from: number
  readonly to: number
}

export function* scalingSteps({ deployments }: Moment): Generator<ScalingStep> {
  for (const { tenant, was, is } of deployments.changed) {
    if (tenant === undefined || was?.scaling === undefined || is?.scaling === undefined) continue
    const isSame = was.uid === is.uid && was.revision === is.revision
    if (!isSame || was.scaling.revision !== is.scaling.revision) continue
    const [from, to] = [was.scaling.desired, is.scaling.desired]
    if (from !== to) yield { tenant, stored: is, scaling: is.scaling, from, to }
  }
}

/** Remembers since when something has been so, by deployment. */
export function createSince(): {
  note(uid: DeploymentUid, isSo: boolean, now: number): void
  /** For how long it has been so; 0 if it is not. */
  lastedMs(uid: DeploymentUid, now: number): number
} {
  const since = new Map<DeploymentUid, number>()
  return {
    note(uid, isSo, now) {
      if (!isSo) since.delete(uid)
      else if (!since.has(uid)) since.set(uid, now)
    },
    lastedMs: (uid, now) => now - (since.get(uid) ?? now),
  }
}
