// Memoization for values that an explanation needs for thousands of nodes. Keys must never be changed in place.

interface Memory<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

function memoizeIn<Key, Value>(known: Memory<Key, Value>, compute: (key: Key) => Value): (key: Key) => Value {
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = compute(key)
    known.set(key, value)
    return value
  }
}

/** The value is forgotten together with its key. */
export const memoizeByObject = <Key extends object, Value extends object | string>(
  compute: (key: Key) => Value,
) => memoizeIn(new WeakMap<Key, Value>(), compute)

/** Values are kept as long as the returned function. */
export const memoizeByValue = <Key, Value extends object | string | number | boolean>(
  compute: (key: Key) => Value,
) => memoizeIn(new Map<Key, Value>(), compute)

/** Computed at the first call. */
export function lazy<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined
  return () => {
    computed ??= { value: compute() }
    return computed.value
  }
}
