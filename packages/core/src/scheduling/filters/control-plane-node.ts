// Reserves control-plane nodes for the platform's own deployments. No field of a deployment overrides this rule.

import type { Filter } from '../refusal.ts'

export const controlPlaneNode: Filter = {
  name: 'control_plane_node',
  retryOn: ['node_role'],
  phrases: { control_plane_node: 'reserved for the control plane' },
  reportsRecordFact: true,
  cacheKey: ({ ofPlatform }) => [ofPlatform],
  nodeKey: ({ controlPlane }) => controlPlane,
  refuse: ({ ofPlatform }, { controlPlane }) =>
    controlPlane && !ofPlatform
      ? { code: 'control_plane_node', required: { controlPlane: false }, reported: { controlPlane: true } }
      : undefined,
}
