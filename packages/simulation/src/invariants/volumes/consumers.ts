// Invariant: a container that mounts a volume is placed on the node of the volume's primary, and not while the volume is
// handed over. The write of the placement compares the volume, so this holds without a delay.

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import type { StoredVolume } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { deploymentOf, newAssignments, showPlaced } from '../placement/assigned.ts'

type Mounting = Pick<DeploymentSpec, 'volumes'>

/** Why the volumes of a deployment keep it from a node; undefined if they do not. */
export function volumesForbid(
  { volumes: mounts = [] }: Mounting,
  nodeId: string,
  volumeOf: (id: string) => StoredVolume | undefined,
): string | undefined {
  const stored = mounts.filter(({ type }) => type !== 'tmpfs').map(({ volume }) => volumeOf(volume))
  if (stored.some((volume) => volume?.primary?.nodeId !== nodeId)) return 'lacks the primary of a volume'
  return stored.some((volume) => volume?.handover?.to !== undefined) ? 'hands a volume over' : undefined
}

/** Whether a deployment, or a revision of it that has containers, writes a volume from a pool. */
export const writes = (...all: readonly Mounting[]): boolean =>
  all.some(({ volumes = [] }) => volumes.some(({ type, readOnly }) => type !== 'tmpfs' && !readOnly))

export const atPrimary: Invariant = {
  name: 'at-primary',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { tenant, assignment } = placed
        const spec = deploymentOf(moment, placed)?.spec
        const why = spec && volumesForbid(spec, assignment.nodeId, (id) => volumeAt(moment, tenant, id))
        if (why !== undefined)
          yield { subject: showPlaced(placed), message: `is placed on ${assignment.nodeId}, which ${why}` }
      }
    },
}

const volumeAt = ({ volumes }: Moment, tenant: TenantId, id: string): StoredVolume | undefined =>
  volumes.was(tenant, id)
