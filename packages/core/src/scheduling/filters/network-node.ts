// Requires that the node has every network that the workload names, because a network exists on one node only.

import type { Json } from '@holdfast/contract'
import type { NamedNetwork, NodeFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'

export const networkNode: Filter = {
  name: 'network_node',
  retryOn: ['networks', 'deployment'],
  phrases: {
    network_missing: 'because a network does not exist',
    not_the_network_node: 'without a network',
  },
  reportsRecordFact: false,
  cacheKey: ({ networks }) => (networks === undefined ? [] : [JSON.stringify(networks)]),
  refuse({ networks = [] }, node) {
    const [first, ...others] = elsewhere(networks, node)
    if (first === undefined) return undefined
    const isMissing = [first, ...others].some(({ nodeId }) => nodeId === null)
    return {
      code: isMissing ? 'network_missing' : 'not_the_network_node',
      required: networks.map(({ name, nodeId }): Json => ({ network: name, nodeId })),
      reported: null,
    }
  },
}

/** The networks of the workload that the node does not have. */
export const elsewhere = (networks: readonly NamedNetwork[], { id }: NodeFacts): NamedNetwork[] =>
  networks.filter(({ nodeId }) => nodeId !== id)

/** Distinguishes nodes by the networks that they have. */
export const keyOfNetworks = ({ networks }: Workload, { id }: NodeFacts): string =>
  networks === undefined ? '' : networks.map(({ nodeId }) => (nodeId === id ? '#' : '_')).join('')
