// Does the deployment name another node? SPEC 2.7.

import type { Filter } from '../refusal.ts'

export const namedNode: Filter = {
  name: 'named_node',
  curedBy: ['deployment'],
  phrases: { not_the_named_node: 'not the named node' },
  keptFor: ({ nodeId }) => nodeId ?? '',
  refuse({ nodeId }, { id, name }) {
    if (nodeId === undefined || nodeId === id) return undefined
    return {
      filter: 'named_node',
      code: 'not_the_named_node',
      required: nodeId,
      reported: id,
      fix: `Set nodeId to ${id} (${name}), or leave it out.`,
    }
  },
}
