// Does the node's agent answer? Its newest status decides; a control-plane node's is read from the platform's own record
// before it gets here. SPEC 3, DECISIONS 5.

import type { NodeStatus } from '@holdfast/contract'
import type { Filter } from '../refusal.ts'

const FIXES: { readonly [status in Exclude<NodeStatus, 'ready'>]: (name: string) => string } = {
  pending: (name) => `Start the agent on ${name}: it is enrolled and has not connected yet.`,
  unreachable: (name) => `Bring ${name} back: its agent is silent.`,
  failed: (name) =>
    `Bring ${name} back, or remove it and enroll another node: its agent has been silent for long.`,
}

export const readiness: Filter = {
  name: 'readiness',
  curedBy: ['node_status'],
  phrases: { node_not_ready: 'not ready' },
  keptFor: () => '',
  refuse(_workload, { name, status }) {
    if (status === 'ready') return undefined
    return {
      filter: 'readiness',
      code: 'node_not_ready',
      required: 'ready',
      reported: status,
      fix: FIXES[status](name),
    }
  },
}
