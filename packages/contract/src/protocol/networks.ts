// Networks in the agent protocol: those that a node must have or remove, and what its agent reports about them.
// See docs/design/networks.md#networks-that-agents-are-sent

import { networkOptionsShape } from '../api/network.ts'
import type { NetworkId } from '../ids.ts'
import { branded, type Infer, object, oneOf, string } from '../shapes/shape.ts'

export const desiredNetworkShape = object({
  id: branded<NetworkId>(),
  desired: oneOf(['present', 'removed']),
  options: networkOptionsShape,
})
export type DesiredNetwork = Infer<typeof desiredNetworkShape>

/** A network as its agent observed it. The agent reports a network when its state or reason changes. */
export const observedNetworkShape = object({
  id: branded<NetworkId>(),
  /** `removed`: the engine has no network with this id. `failed`: `reason` says why it is not as desired. */
  state: oneOf(['present', 'removed', 'failed']),
  /** One word: name_in_use, in_use, engine_failed; empty if all is as desired. */
  reason: string(),
})
export type ObservedNetwork = Infer<typeof observedNetworkShape>
