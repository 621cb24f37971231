// The networks that this node must have or remove, as the server sent them.

import type { DesiredNetwork, NetworkId } from '@holdfast/contract'
import type { DesiredChange } from '../ports/session.ts'

export interface DesiredNetworks {
  readonly all: ReadonlyMap<NetworkId, DesiredNetwork>
  apply(
    change: Pick<DesiredChange, 'complete' | 'networks' | 'goneNetworks'>,
    source: 'server' | 'disk',
  ): void
  /** Whether a server has sent all networks of the node since the agent started. */
  isComplete(): boolean
  /** The networks to save on disk; absent if no server has sent any. */
  saved(): { readonly networks?: readonly DesiredNetwork[] }
}

export function createDesiredNetworks(): DesiredNetworks {
  const all = new Map<NetworkId, DesiredNetwork>()
  let isKnown = false
  let isComplete = false
  return {
    all,
    apply({ complete, networks, goneNetworks = [] }, source) {
      // A complete set without networks is from a server that does not know them; it proves nothing.
      if (complete && networks !== undefined) {
        all.clear()
        isComplete ||= source === 'server'
      }
      isKnown ||= networks !== undefined
      for (const network of networks ?? []) all.set(network.id, network)
      for (const id of all.keys()) if (goneNetworks.includes(id)) all.delete(id)
    },
    isComplete: () => isComplete,
    saved: () => (isKnown ? { networks: [...all.values()] } : {}),
  }
}
