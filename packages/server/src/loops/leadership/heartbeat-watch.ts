// Determines which server replicas are alive. A heartbeat is stale if it has not changed for a while on this process's
// own monotonic clock, measured from when this process first saw it. Timestamps of other machines are not trusted. See
// docs/design/leadership.md#heartbeats

export interface SeenHeartbeat {
  readonly id: string
  readonly modRevision: number
}

export interface HeartbeatWatch {
  /** Records the heartbeats that the store contains now. */
  observe(heartbeats: readonly SeenHeartbeat[], now: number): void
  /** Restarts the timers of all server replicas after this process was suspended or disconnected and saw no heartbeat. */
  restart(now: number): void
  /** The ids of the server replicas with a recent heartbeat, sorted. */
  live(now: number): string[]
  isStale(id: string, now: number): boolean
  /** Milliseconds since this process saw the last change of a heartbeat; 0 for an unknown server replica. */
  silenceMs(id: string, now: number): number
}

export function createHeartbeatWatch(silentMs: number): HeartbeatWatch {
  const seen = new Map<string, { readonly modRevision: number; readonly since: number }>()
  const silenceMs = (id: string, now: number): number => now - (seen.get(id)?.since ?? now)
  const isStale = (id: string, now: number): boolean => seen.has(id) && silenceMs(id, now) >= silentMs
  return {
    isStale,
    silenceMs,
    observe(heartbeats, now) {
      const present = new Set(heartbeats.map(({ id }) => id))
      for (const id of seen.keys()) if (!present.has(id)) seen.delete(id)
      for (const { id, modRevision } of heartbeats)
        if (seen.get(id)?.modRevision !== modRevision) seen.set(id, { modRevision, since: now })
    },
    restart(now) {
      for (const [id, { modRevision }] of seen) seen.set(id, { modRevision, since: now })
    },
    live: (now) => [...seen.keys()].filter((id) => !isStale(id, now)).sort(),
  }
}
