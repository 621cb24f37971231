// Limits how often a node may open a session. Each one may write events, so a node that reconnects in a loop would fill the
// store.

import type { NodeId } from '@holdfast/contract'

export interface SessionRateLimit {
  /** True if the node may open a session now. Call this only for authenticated nodes. */
  take(nodeId: NodeId, now: number): boolean
}

export function createSessionRateLimit(reopenMs: number): SessionRateLimit {
  /** The time of the last session of each node, oldest first. */
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
