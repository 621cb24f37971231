// The events about a network.

import type { StoredNetwork } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

const subjectOf = ({ id, options }: StoredNetwork) => ({ kind: 'Network', name: options.name, uid: id })

export function networkCreatedEvent(network: StoredNetwork): NewEvent {
  const { options, nodeId, nodeName } = network
  const kind = options.internal ? 'Internal network' : 'Network'
  return {
    type: 'network.created',
    severity: 'info',
    subject: subjectOf(network),
    cause: 'created',
    reason: 'created',
    message: `${kind} ${options.name} was created for node ${nodeName}.`,
    data: { nodeId, internal: options.internal },
  }
}

/** The network is on its node, at the time `now`. */
export function networkReadyEvent(network: StoredNetwork, now: string): NewEvent {
  const { options, nodeId, nodeName } = network
  return {
    type: 'network.ready',
    severity: 'info',
    subject: subjectOf(network),
    cause: `ready ${now}`,
    reason: 'ready',
    message: `Network ${options.name} is ready on node ${nodeName}.`,
    data: { nodeId },
  }
}

const CAUSES: { readonly [reason: string]: string } = {
  name_in_use: 'another network of the machine has its name; rename or remove that network',
  in_use: 'containers that are not of this tenant are attached to it; detach them',
  node_leaving: 'the node is being released; create the network on another node',
  node_removed: 'the node was removed; delete the network and create it on another node',
}

export function networkFailedEvent(network: StoredNetwork, now: string): NewEvent {
  const { options, nodeId, nodeName } = network
  const reason = network.reason ?? 'engine_failed'
  const cause = CAUSES[reason] ?? 'the container engine refused it; the agent retries'
  return {
    type: 'network.failed',
    severity: 'error',
    subject: subjectOf(network),
    cause: `failed ${now}`,
    reason,
    message: `Network ${options.name} is not on node ${nodeName}: ${cause}.`,
    data: { nodeId },
  }
}

/** `confirmed`: the agent has confirmed that the node does not have the network. */
export function networkDeletedEvent(network: StoredNetwork, confirmed: boolean): NewEvent {
  const { options, nodeId, nodeName } = network
  const outcome = confirmed
    ? `node ${nodeName} does not have it`
    : `the agent of node ${nodeName} has not confirmed that it is removed there`
  return {
    type: 'network.deleted',
    severity: 'info',
    subject: subjectOf(network),
    cause: 'deleted',
    reason: confirmed ? 'deleted' : 'unconfirmed',
    message: `Network ${options.name} was deleted; ${outcome}.`,
    data: { nodeId },
  }
}
