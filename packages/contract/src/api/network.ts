// Networks: the body of their creation and the record that the API returns. A network exists on one node.

import type { NetworkId, NodeId } from '../ids.ts'
import {
  boolean,
  branded,
  field,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { networkTexts } from '../texts/network-texts.ts'
import { alterationShape, warningShape } from './rejection.ts'

export const NETWORK_DRIVERS = ['bridge'] as const
export const NETWORK_PHASES = ['Pending', 'Ready', 'Failed', 'Deleting'] as const

/** The body of POST /networks. */
export const newNetworkShape = object({
  name: field(networkTexts.name, string()),
  driver: field(networkTexts.driver, optional(string())),
  labels: field(networkTexts.labels, optional(map(string()))),
  internal: field(networkTexts.internal, optional(boolean())),
  nodeId: field(networkTexts.nodeId, optional(string())),
})

/** The options of a network, which are all that its agent is sent. */
export const networkOptionsShape = object({
  name: string(),
  driver: oneOf(NETWORK_DRIVERS),
  labels: map(string()),
  /** Whether the network has no way out: its containers reach each other only. */
  internal: boolean(),
})
export type NetworkOptions = Infer<typeof networkOptionsShape>

export const networkShape = object({
  id: branded<NetworkId>(),
  ...networkOptionsShape.fields,
  nodeId: branded<NodeId>(),
  nodeName: string(),
  phase: oneOf(NETWORK_PHASES),
  /** Why the network is not ready, as one word; null if it is. */
  reason: nullable(string()),
  /** The names of the workloads that name the network, or whose containers are still attached to it. */
  attached: list(string()),
  createdAt: string(),
  revision: integer(),
})
export type Network = Infer<typeof networkShape>

export const writtenNetworkShape = object({
  network: networkShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})
export type WrittenNetwork = Infer<typeof writtenNetworkShape>
