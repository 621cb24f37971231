// Limits how often a node may open a session. Each session may write events, so a node that reconnects in a loop would
// fill the store.

import type { NodeId } from '@holdfast/contract'

export interface SessionRateLimit {
  /** True if the node may open a session now. Call this only for authenticated nodes. */
  tryAcquire(nodeId: NodeId, now: number): boolean
}

export function createSessionRateLimit(reopenMs: number): SessionRateLimit {
  /** The time at which each node last opened a session, oldest first. */
  const lastOpened = new Map<NodeId, number>()
  const forgetExpired = (now: number): void => {
    for (const [nodeId, at] of lastOpened) {
      if (now - at < reopenMs) return
      lastOpened.delete(nodeId)
    }
  }
  return {
    tryAcquire(nodeId, now) {
      forgetExpired(now)
      if (lastOpened.has(nodeId)) return false
      lastOpened.set(nodeId, now)
      return true
    },
  }
}
