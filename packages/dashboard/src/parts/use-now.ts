// The time, renewed every few seconds, for ages on the page.

import { useSyncExternalStore } from 'react'

const STEP_MS = 5_000

/** One timer serves all shown times: a list has hundreds of them. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = 0

const readClock = (): void => {
  // Rounded, so that all components of one render agree.
  now = Math.ceil(Date.now() / 1000) * 1000
}

function tick(): void {
  readClock()
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, STEP_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Milliseconds since 1970. */
export const useNow = (): number =>
  useSyncExternalStore(listen, () => {
    if (timer === undefined) readClock()
    return now
  })
