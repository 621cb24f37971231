// What is said of thousands of nodes hangs on few things, and is worked out once for each of them: whoever reads it again
// finds the very same value, so that it takes no room either. Whatever it hangs on is never changed in place.

interface Memory<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

function rememberedIn<Key, Value>(known: Memory<Key, Value>, make: (key: Key) => Value): (key: Key) => Value {
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = make(key)
    known.set(key, value)
    return value
  }
}

/** For an object, and forgotten with it. */
export const rememberedFor = <Key extends object, Value extends object | string>(make: (key: Key) => Value) =>
  rememberedIn(new WeakMap<Key, Value>(), make)

/** For a value, as long as the answer itself is held. */
export const rememberedBy = <Key, Value extends object | string | boolean>(make: (key: Key) => Value) =>
  rememberedIn(new Map<Key, Value>(), make)

/** When it is first asked for. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
