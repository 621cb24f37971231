// Reserves control-plane nodes for the platform's own deployments. No field of a deployment overrides this rule. A replica
// that is already on such a node may be recreated there. See docs/design/liveness.md#control-plane-nodes

import type { NodeFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'

export const controlPlaneNode: Filter = {
  name: 'control_plane_node',
  retryOn: ['node_role'],
  phrases: { control_plane_node: 'reserved for the control plane' },
  reportsRecordFact: true,
  cacheKey: ({ ofPlatform, returnsTo }) => [ofPlatform, returnsTo],
  nodeKey: ({ controlPlane }) => controlPlane,
  refuse: (workload, node) =>
    node.controlPlane && !workload.ofPlatform && !mayReturn(workload, node)
      ? { code: 'control_plane_node', required: { controlPlane: false }, reported: { controlPlane: true } }
      : undefined,
}

/** Whether the node already has the replica. */
export const mayReturn = ({ returnsTo }: Workload, { id }: NodeFacts): boolean =>
  returnsTo?.includes(id) === true
