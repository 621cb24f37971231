// Detects dead watch streams. An idle stream looks like one whose peer is gone, so a quiet stream is probed with a progress
// request, and a stream that does not answer is abandoned.

export interface WatchPulse {
  /** Call when a message has arrived. */
  received(): void
  stop(): void
}

/** Read again at each tick, because the timeout may grow. */
export interface WatchPulseTimes {
  readonly quietMs: number
  readonly answerMs: number
}

export interface WatchPulseActions {
  probe(): void
  abandon(): void
}

/** Probes a stream that was quiet for `quietMs` and abandons it after another `answerMs` of silence. */
export function startWatchPulse(times: WatchPulseTimes, { probe, abandon }: WatchPulseActions): WatchPulse {
  const tickMs = Math.min(1_000, times.quietMs / 2)
  let lastMessageAt = performance.now()
  let lastTickAt = lastMessageAt
  const timer = setInterval(() => {
    const now = performance.now()
    // NOTE after a pause of this process, messages may have arrived that are not read yet.
    if (now - lastTickAt > 3 * tickMs) lastMessageAt = now
    lastTickAt = now
    const quietForMs = now - lastMessageAt
    if (quietForMs >= times.quietMs + times.answerMs) abandon()
    else if (quietForMs >= times.quietMs) probe()
  }, tickMs)
  return {
    received() {
      lastMessageAt = performance.now()
    },
    stop() {
      clearInterval(timer)
    },
  }
}
