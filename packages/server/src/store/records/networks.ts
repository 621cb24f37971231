// Networks: their options, node and phase, and the last report of each agent about its networks.

import {
  branded,
  type Infer,
  integer,
  NETWORK_PHASES,
  type NetworkId,
  type NodeId,
  networkOptionsShape,
  nullable,
  object,
  observedNetworkShape,
  oneOf,
  string,
} from '@holdfast/contract'
import { historyCollection, tenantCollection, v } from './collection.ts'

export const storedNetworkShape = object({
  v,
  id: branded<NetworkId>(),
  options: networkOptionsShape,
  nodeId: branded<NodeId>(),
  /** The name of the node when the network was created, for messages after the node is gone. */
  nodeName: string(),
  phase: oneOf(NETWORK_PHASES),
  reason: nullable(string()),
  /** Whether the agent of the node must have the network or remove it. */
  desired: oneOf(['present', 'removed']),
  revision: integer(),
  createdAt: string(),
  /** The number of the quota slot that the network occupies. */
  slot: integer(),
})
export type StoredNetwork = Infer<typeof storedNetworkShape>

const { state, reason } = observedNetworkShape.fields

/** The last report of an agent about a network; the key is the id of the network. */
export const networkReportShape = object({ v, nodeId: branded<NodeId>(), state, reason, at: string() })
export type StoredNetworkReport = Infer<typeof networkReportShape>

/**
 * The network that has a name; the key is the name. Every workload that newly names the network writes this record, so
 * that the deletion of the network conflicts with it.
 */
export const networkNameShape = object({ v, id: branded<NetworkId>() })

export const networks = tenantCollection('net', storedNetworkShape, true)
export const networkReports = historyCollection('netobs', networkReportShape, true)
export const networkNames = tenantCollection('netname', networkNameShape, true)
