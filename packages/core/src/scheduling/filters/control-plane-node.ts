// Does the control plane itself run there? Such a node takes new work of the platform alone, nothing on a deployment
// overrides that, and it is no fault of the node. SPEC 3 rule 2, DECISIONS 5.

import type { Filter } from '../refusal.ts'

const REQUIRED = { controlPlane: false }
const REPORTED = { controlPlane: true }
export const controlPlaneNode: Filter = {
  name: 'control_plane_node',
  curedBy: ['node_role'],
  phrases: { control_plane_node: 'of the control plane' },
  keptFor: ({ ofPlatform }) => (ofPlatform ? 'platform' : ''),
  refuse({ ofPlatform }, { name, controlPlane }) {
    if (!controlPlane || ofPlatform) return undefined
    return {
      filter: 'control_plane_node',
      code: 'control_plane_node',
      required: REQUIRED,
      reported: REPORTED,
      fix: `Enroll another node: the control plane runs on ${name}, which takes the platform's own work only.`,
    }
  },
}
