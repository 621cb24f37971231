// A map of limited size: when the map is full, the key that was set longest ago is removed.

export interface BoundedMap<K, V> {
  get(key: K): V | undefined
  has(key: K): boolean
  /** Sets a value and makes the key the newest, even if the key is already present. */
  set(key: K, value: V): void
  delete(key: K): void
}

export function createBoundedMap<K, V>(capacity: number): BoundedMap<K, V> {
  const entries = new Map<K, V>()
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= capacity) return
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        return
      }
    },
    delete: (key) => void entries.delete(key),
  }
}
