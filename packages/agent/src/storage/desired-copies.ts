// The copies of volumes that the node must hold, and the nodes with the other copies. A set without copies, as an older
// server sends, changes nothing. A copy with an epoch below the known one is ignored.

import type { DesiredCopy, Peer, VolumeId } from '@holdfast/contract'
import type { DesiredChange } from '../ports/session.ts'

type CopiesChange = Pick<DesiredChange, 'complete' | 'copies' | 'goneCopies' | 'peers'>

export interface DesiredCopies {
  readonly copies: ReadonlyMap<VolumeId, DesiredCopy>
  /** Undefined until a server has sent copies, now or before the agent started. */
  saved(): { readonly copies?: readonly DesiredCopy[]; readonly peers?: readonly Peer[] }
  apply(change: CopiesChange, source: 'server' | 'disk'): void
  /** Whether a server has sent the copy since the agent started. */
  isConfirmed(volume: VolumeId): boolean
  /** Whether a server has sent all copies since the agent started, so that the others are not desired. */
  isComplete(): boolean
}

export function createDesiredCopies(): DesiredCopies {
  const desired = new Map<VolumeId, DesiredCopy>()
  const confirmed = new Set<VolumeId>()
  let peers: readonly Peer[] | undefined
  let isKnown = false
  let isComplete = false

  function replaceWith(copies: readonly DesiredCopy[], complete: boolean, gone: ReadonlySet<string>): void {
    const before = new Map(desired)
    if (complete) desired.clear()
    for (const copy of copies) {
      const known = before.get(copy.volume)
      desired.set(copy.volume, known !== undefined && known.epoch > copy.epoch ? known : copy)
    }
    for (const volume of desired.keys()) if (gone.has(volume)) desired.delete(volume)
    for (const volume of confirmed) if (!desired.has(volume)) confirmed.delete(volume)
  }
  return {
    copies: desired,
    saved: () => ({ ...(isKnown && { copies: [...desired.values()] }), ...(peers && { peers }) }),
    apply({ complete, copies, goneCopies = [], peers: sentPeers }, source) {
      peers = sentPeers ?? peers
      if (copies === undefined && goneCopies.length === 0) return
      replaceWith(copies ?? [], complete && copies !== undefined, new Set(goneCopies))
      isKnown = true
      if (source === 'disk') return
      isComplete ||= complete
      for (const { volume } of copies ?? []) confirmed.add(volume)
    },
    isConfirmed: (volume) => confirmed.has(volume),
    isComplete: () => isComplete,
  }
}
