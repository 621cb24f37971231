// How often a node may open a session. Each opening may write events, so a node that dials without end would
// otherwise fill the store.

import type { NodeId } from '@holdfast/contract'

export interface SessionRateLimit {
  /** True where the node's turn has come; it is then used up. Asked only for nodes that have proven themselves. */
  take(nodeId: NodeId, now: number): boolean
}

export function createSessionRateLimit(reopenMs: number): SessionRateLimit {
  /** Since when, in the order of time: what is over stands first. */
  const taken = new Map<NodeId, number>()
  const forgetOver = (now: number): void => {
    for (const [nodeId, at] of taken) {
      if (now - at < reopenMs) return
      taken.delete(nodeId)
    }
  }
  return {
    take(nodeId, now) {
      forgetOver(now)
      if (taken.has(nodeId)) return false
      taken.set(nodeId, now)
      return true
    },
  }
}
