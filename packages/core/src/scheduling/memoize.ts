// Memoization for values that an explanation needs for thousands of nodes. Objects used as keys must never be changed in
// place.

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

/** Computes a value once for each key object. The value is garbage-collected together with its key. */
export const memoizeByObject = <Key extends object, Value extends object | string>(
  compute: (key: Key) => Value,
) => memoizeIn(new WeakMap<Key, Value>(), compute)

/** Computes a value once for each key. Values are kept as long as the returned function exists. */
export const memoizeByValue = <Key, Value extends object | string | number | boolean>(
  compute: (key: Key) => Value,
) => memoizeIn(new Map<Key, Value>(), compute)

/** Computes a value at the first call and returns the same value later. */
export function lazy<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined
  return () => {
    computed ??= { value: compute() }
    return computed.value
  }
}
