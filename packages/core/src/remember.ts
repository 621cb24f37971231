// Caches the results of a pure function for the texts it was last called with, because the same images and variable
// names recur. The size of the cache is limited, so that hostile texts cannot fill the memory.

const MAX_TEXT = 256

export function remember<T>(compute: (text: string) => T, capacity = 2000): (text: string) => T {
  const known = new Map<string, { readonly answer: T }>()
  return (text) => {
    if (text.length > MAX_TEXT) return compute(text)
    const before = known.get(text)
    if (before !== undefined) return before.answer
    const answer = compute(text)
    if (known.size >= capacity) known.clear()
    known.set(text, { answer })
    return answer
  }
}
