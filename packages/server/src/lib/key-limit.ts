// Limits how many streams, commands or downloads one token or tenant may have open on this server replica.

export interface KeyLimit<Key> {
  /** Reserves one for the key. Returns an idempotent release function, or undefined if the key is at its limit. */
  reserve(key: Key): (() => void) | undefined
}

export function createKeyLimit<Key>(maximum: number): KeyLimit<Key> {
  const reserved = new Map<Key, number>()
  const release = (key: Key): void => {
    const left = (reserved.get(key) ?? 1) - 1
    if (left === 0) reserved.delete(key)
    else reserved.set(key, left)
  }
  return {
    reserve(key) {
      const before = reserved.get(key) ?? 0
      if (before >= maximum) return undefined
      reserved.set(key, before + 1)
      let isHeld = true
      return () => {
        if (isHeld) release(key)
        isHeld = false
      }
    },
  }
}
