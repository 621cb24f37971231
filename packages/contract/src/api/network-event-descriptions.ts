// When each type of event about a network is emitted and what its `data` holds.

import type { EventType } from './event.ts'
import type { EventDescription } from './volume-event-descriptions.ts'

const NODE_ID = 'id of the node'

type NetworkEventType = Extract<EventType, `network.${string}`>

export const NETWORK_EVENT_DESCRIPTIONS: { readonly [type in NetworkEventType]: EventDescription } = {
  'network.created': {
    when: 'a network is created; its agent is yet to create it on the node',
    severity: ['info'],
    subjects: ['Network'],
    data: { nodeId: NODE_ID, internal: 'whether the network has no way out' },
  },
  'network.ready': {
    when: 'the agent has created a network on its node, or has repaired it',
    severity: ['info'],
    subjects: ['Network'],
    data: { nodeId: NODE_ID },
  },
  'network.failed': {
    when: 'a network is not on its node: the engine refuses it, another network of the machine has its name (`name_in_use`), or the node was removed (`node_removed`)',
    next: '`holdfast network describe NAME` shows the reason. For `name_in_use`, rename or remove the other network on the machine. For `node_removed`, remove the network from its deployments, delete it and create it on another node.',
    severity: ['error'],
    subjects: ['Network'],
    data: { nodeId: NODE_ID },
  },
  'network.deleted': {
    when: 'a network was deleted, and its agent has confirmed that the node no longer has it; with the reason `unconfirmed` the node had failed or was removed before',
    severity: ['info'],
    subjects: ['Network'],
    data: { nodeId: NODE_ID },
  },
}
