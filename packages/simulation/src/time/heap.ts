// A binary heap: a collection from which the smallest item can be removed efficiently.

export interface Heap<T> {
  push(item: T): void
  peek(): T | undefined
  pop(): T | undefined
}

/** Creates a heap. An item comes before another if `compare` is below 0; equal items come in any order. */
export function createHeap<T>(compare: (left: T, right: T) => number): Heap<T> {
  const items: T[] = []
  return {
    push(item) {
      items.push(item)
      rise(items, items.length - 1, compare)
    },
    peek: () => items[0],
    pop() {
      const first = items[0]
      const last = items.pop()
      if (items.length > 0 && last !== undefined) {
        items[0] = last
        sink(items, compare)
      }
      return first
    },
  }
}

function rise<T>(items: T[], from: number, compare: (left: T, right: T) => number): void {
  let at = from
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!comesFirst(items, at, above, compare)) return
    swap(items, at, above)
    at = above
  }
}

function sink<T>(items: T[], compare: (left: T, right: T) => number): void {
  let at = 0
  for (;;) {
    let least = at
    for (const below of [2 * at + 1, 2 * at + 2])
      if (below < items.length && comesFirst(items, below, least, compare)) least = below
    if (least === at) return
    swap(items, at, least)
    at = least
  }
}

function comesFirst<T>(items: T[], left: number, right: number, compare: (a: T, b: T) => number): boolean {
  const [one, other] = [items[left], items[right]]
  return one !== undefined && other !== undefined && compare(one, other) < 0
}

function swap<T>(items: T[], left: number, right: number): void {
  const [one, other] = [items[left], items[right]]
  if (one === undefined || other === undefined) return
  items[left] = other
  items[right] = one
}
