// The phases of a volume and their reasons, for `describe` and `explain`.

import type { VOLUME_PHASES, WordText } from '@holdfast/contract'

export const VOLUME_PHASE_TEXTS: { readonly [phase in (typeof VOLUME_PHASES)[number]]: WordText } = {
  Pending: {
    meaning: 'No node can hold the volume yet. It is created as soon as one fits.',
    next: '`holdfast why volume <name>` lists every node with every reason against it.',
  },
  Materializing: {
    meaning: 'The primary is being created on its node.',
    next: 'Wait. `holdfast get volume <name> -w` follows the phase.',
  },
  Ready: {
    meaning: 'The primary has the data, and a deployment can mount the volume.',
  },
  Degraded: {
    meaning: 'The node of the primary is unreachable, or its storage pool cannot be read.',
    next: '`holdfast describe volume <name>` names the node. Bring it back, or let a copy continue: `holdfast volume promote <name> --dry-run` shows what would be lost.',
  },
  Promoting: { meaning: 'Another copy becomes the primary.' },
  Resizing: { meaning: 'The copies get the new size.' },
  Lost: {
    meaning: 'No copy is left, so the data is lost.',
    next: '`holdfast volume delete <name>` frees the name.',
  },
  Deleting: { meaning: 'The nodes delete their copies.' },
}

export const VOLUME_REASON_TEXTS = {
  unschedulable: {
    meaning: 'No node fits: each lacks free storage, is not ready, or is excluded by the residency.',
    next: '`holdfast why volume <name>` lists every node with every reason against it.',
  },
  under_replicated: {
    meaning: 'Fewer copies exist than the volume should have.',
    next: '`holdfast why volume <name>` shows which nodes refuse another copy.',
  },
  replica_lagging: {
    meaning: 'A copy is more than 15 seconds behind the primary.',
    next: '`holdfast describe volume <name>` shows the age of each copy.',
  },
  copies_lagging: {
    meaning: 'The node of the primary is silent, and every copy is further behind than the platform allows.',
    next: 'Bring the node back, or accept the loss: `holdfast volume promote <name> --force --dry-run` shows it.',
  },
  copies_refused: {
    meaning:
      'The node of the primary is silent, and residency or the placement of the writer refuses the nodes of the copies.',
    next: 'Bring the node back, or change what refuses them: labels, residency, constraints or capacity.',
  },
  no_common_checkpoint: {
    meaning:
      'The node of the primary is silent, and no node has a common checkpoint of all volumes that the deployment writes.',
    next: 'Bring the node back.',
  },
} satisfies { readonly [reason: string]: WordText }
