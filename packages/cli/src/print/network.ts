// The words of a network for people.

import type { Network } from '@holdfast/contract'

/** `Ready`, or `Failed (name_in_use)`. */
export const networkPhase = ({ phase, reason }: Pick<Network, 'phase' | 'reason'>): string =>
  reason === null ? phase : `${phase} (${reason})`

const REASONS: { readonly [reason: string]: string } = {
  agent_version: 'The agent of the node is too old for networks. Upgrade it.',
  name_in_use: 'Another network of the machine has its name. Rename or remove that network on the machine.',
  in_use: 'Containers that are not of this tenant are attached to it. Detach them on the machine.',
  engine_failed: 'The container engine refused it. The log of the agent has the reason; the agent retries.',
  node_leaving: 'The node is being released. Create the network on another node.',
  node_removed: 'The node was removed. Delete the network and create it on another node.',
}

const PHASES: { readonly [phase in Network['phase']]: string } = {
  Pending: 'The agent of the node has not created it yet.',
  Ready: 'Containers can join it.',
  Failed: 'It is not on its node.',
  Deleting: 'The agent of the node has not confirmed that it is removed.',
}

/** The meaning of the reason, or of a phase without a reason, in words. */
export const networkMeaning = ({ phase, reason }: Pick<Network, 'phase' | 'reason'>): string =>
  REASONS[reason ?? ''] ?? PHASES[phase]
