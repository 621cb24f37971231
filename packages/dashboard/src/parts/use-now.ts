// The time, renewed every few seconds, for ages on the page.

import { useSyncExternalStore } from 'react'

const STEP_MS = 5_000

function listen(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS)
  return () => clearInterval(timer)
}

/** Milliseconds since 1970, rounded so that all components of one render agree. */
export const useNow = (): number => useSyncExternalStore(listen, () => Math.ceil(Date.now() / 1000) * 1000)
