// Whether the screen is as narrow as that of a phone, where tables become cards.

import { useSyncExternalStore } from 'react'

const NARROW = '(max-width: 640px)'

function listen(listener: () => void): () => void {
  const query = matchMedia(NARROW)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export const useNarrow = (): boolean => useSyncExternalStore(listen, () => matchMedia(NARROW).matches)
