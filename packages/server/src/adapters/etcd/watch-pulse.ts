// Detects dead watch streams. An idle stream looks like a stream whose peer is gone, so a stream without messages is
// probed with a progress request, and a stream that does not answer is abandoned.

export interface WatchPulse {
  /** Resets the timer for silence. To be called for each message of the watch stream. */
  received(): void
  stop(): void
}

/** Timeouts of a watch stream. Each tick reads the timeouts again, because the timeout for an answer may grow. */
export interface WatchPulseTimes {
  readonly quietMs: number
  readonly answerMs: number
}

export interface WatchPulseActions {
  probe(): void
  abandon(): void
}

/** Probes a stream that was silent for `quietMs`, and abandons the stream after another `answerMs` of silence. */
export function startWatchPulse(times: WatchPulseTimes, { probe, abandon }: WatchPulseActions): WatchPulse {
  const tickMs = Math.min(1_000, times.quietMs / 2)
  let lastMessageAt = performance.now()
  let lastTickAt = lastMessageAt
  const timer = setInterval(() => {
    const now = performance.now()
    // NOTE after this process was suspended, arrived messages may be unread, so silence is measured from now on.
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
