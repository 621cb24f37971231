// What is said of thousands of nodes hangs on few things, and is worked out once for each of them: whoever reads it again
// finds the very same value, so that it takes no room either. Whatever it hangs on is never changed in place.

/** For an object, and forgotten with it. */
export function rememberedFor<Key extends object, Value extends object | string>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = make(key)
    known.set(key, value)
    return value
  }
}

/** For a value, as long as the answer itself is held. */
export function rememberedBy<Key, Value extends object | string | boolean>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const value = make(key)
    known.set(key, value)
    return value
  }
}

/** When it is first asked for. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
