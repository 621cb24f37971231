// Whether a container can still write its volumes. Writers are created on the node of the primary only, so a primary on
// another node means a later epoch: the container can no longer write. See docs/design/volumes.md#mounts-and-writers

import type { NodeId } from '@holdfast/contract'

interface Mount {
  readonly volume: string
  readonly type: string
  readonly readOnly: boolean
}

type Primary = { readonly nodeId: NodeId } | null | undefined

export const isElsewhere = (primary: Primary, nodeId: NodeId): boolean =>
  primary !== undefined && primary !== null && primary.nodeId !== nodeId

/** Whether the primaries of all volumes that a container on the node writes are on other nodes. */
export function hasLostPrimaries(
  mounts: readonly Mount[],
  nodeId: NodeId,
  primaryOf: (volume: string) => Primary,
): boolean {
  const written = mounts.filter(({ type, readOnly }) => type !== 'tmpfs' && !readOnly)
  return written.length > 0 && written.every(({ volume }) => isElsewhere(primaryOf(volume), nodeId))
}
