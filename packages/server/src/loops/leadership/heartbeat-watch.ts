// Which server replicas are alive? A heartbeat is stale when it has not changed for a while on this process's own monotonic
// clock, measured from when it was first seen. Timestamps of other machines are not trusted. See
// docs/design/leadership.md#heartbeats

export interface SeenHeartbeat {
  readonly id: string
  readonly modRevision: number
}

export interface HeartbeatWatch {
  /** Takes in what the store shows now. */
  look(heartbeats: readonly SeenHeartbeat[], now: number): void
  /** Everybody's time begins anew: we were away, and silence that we did not listen to is no silence. */
  restart(now: number): void
  /** Known and not silent, sorted. */
  live(now: number): string[]
  isSilent(id: string, now: number): boolean
}

export function createHeartbeatWatch(silentMs: number): HeartbeatWatch {
  const seen = new Map<string, { readonly modRevision: number; readonly since: number }>()
  const isSilent = (id: string, now: number): boolean => {
    const entry = seen.get(id)
    return entry !== undefined && now - entry.since >= silentMs
  }
  return {
    isSilent,
    look(heartbeats, now) {
      const present = new Set(heartbeats.map(({ id }) => id))
      for (const id of seen.keys()) if (!present.has(id)) seen.delete(id)
      for (const { id, modRevision } of heartbeats)
        if (seen.get(id)?.modRevision !== modRevision) seen.set(id, { modRevision, since: now })
    },
    restart(now) {
      for (const [id, { modRevision }] of seen) seen.set(id, { modRevision, since: now })
    },
    live: (now) => [...seen.keys()].filter((id) => !isSilent(id, now)).sort(),
  }
}
