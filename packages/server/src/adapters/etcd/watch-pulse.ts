// Is a watch stream still alive? A stream without events looks the same as one whose peer is gone, so silence is broken
// by asking for progress, and a stream that does not answer is given up.

export interface WatchPulse {
  /** Something arrived. */
  beat(): void
  stop(): void
}

/** Looked at anew at each tick. */
export interface WatchPulseTimes {
  readonly quietMs: number
  readonly patienceMs: number
}

export interface WatchPulseActions {
  probe(): void
  giveUp(): void
}

/** Probes when the stream has been quiet for `quietMs`, and gives up when it stays so for `patienceMs` more. */
export function startWatchPulse(times: WatchPulseTimes, { probe, giveUp }: WatchPulseActions): WatchPulse {
  const tickMs = Math.min(1_000, times.quietMs / 2)
  let lastHeartbeatAt = performance.now()
  let lastTickAt = lastHeartbeatAt
  const timer = setInterval(() => {
    const now = performance.now()
    // NOTE after a pause of this process what has arrived is still unread; that is not the member's silence.
    if (now - lastTickAt > 3 * tickMs) lastHeartbeatAt = now
    lastTickAt = now
    const quietForMs = now - lastHeartbeatAt
    if (quietForMs >= times.quietMs + times.patienceMs) giveUp()
    else if (quietForMs >= times.quietMs) probe()
  }, tickMs)
  return {
    beat() {
      lastHeartbeatAt = performance.now()
    },
    stop() {
      clearInterval(timer)
    },
  }
}
