// The status of a deployment of which nothing is observed yet. DECISIONS 2 (record), 5 (phases).

import type { DeploymentSpec, DeploymentStatus } from '@holdfast/contract'

export interface Unobserved {
  readonly deleting: boolean
  /** Null until a registry has answered for the reference. */
  readonly imageDigest: string | null
}

interface PhaseText {
  readonly phase: DeploymentStatus['phase']
  readonly reason: string
  readonly message: string
}

export function deriveStatus(spec: DeploymentSpec, { deleting, imageDigest }: Unobserved): DeploymentStatus {
  return {
    ...derivePhase(spec, deleting),
    replicas: { desired: deleting ? 0 : spec.replicas, placed: 0, ready: 0 },
    image: { reference: spec.image, digest: imageDigest },
    runningRevision: null,
  }
}

/** Several at once: the worst wins, and being deleted outlives everything. */
function derivePhase(spec: DeploymentSpec, deleting: boolean): PhaseText {
  if (deleting) return { phase: 'Deleting', reason: '', message: 'The deployment is being deleted.' }
  if (spec.replicas === 0) {
    return { phase: 'Stopped', reason: '', message: 'The deployment is stopped: 0 replicas are asked for.' }
  }
  const message = 'No node of this tenant is enrolled, so no replica can be placed.'
  return { phase: 'Pending', reason: 'unschedulable', message }
}
