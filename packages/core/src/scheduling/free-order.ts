// Slots (array indexes of nodes) sorted by free share, the largest share first and the lower slot first among equals. A
// change moves one slot, so decisions find the freest nodes without sorting.

export interface FreeOrder {
  readonly slots: Int32Array
  /** For each slot (array index of a node), the free share of the node. */
  readonly share: Float64Array
}

export function createFreeOrder(share: Float64Array): FreeOrder {
  const slots = Int32Array.from(share.keys())
  slots.sort((left, right) => (comesBefore(share, left, share[right] ?? 0, right) ? -1 : 1))
  return { slots, share }
}

export function setShare({ slots, share }: FreeOrder, slot: number, now: number): void {
  const before = share[slot] ?? 0
  if (now === before) return
  const from = positionOf({ slots, share }, before, slot, 0, slots.length)
  if (now < before) {
    const after = positionOf({ slots, share }, now, slot, from + 1, slots.length)
    slots.copyWithin(from, from + 1, after)
    slots[after - 1] = slot
  } else {
    const to = positionOf({ slots, share }, now, slot, 0, from)
    slots.copyWithin(to + 1, to, from)
    slots[to] = slot
  }
  share[slot] = now
}

/** The position between `low` and `high` at which a slot with the given free share must be inserted. */
function positionOf(
  { slots, share }: FreeOrder,
  ofShare: number,
  ofSlot: number,
  low: number,
  high: number,
): number {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >>> 1
    if (comesBefore(share, slots[middle] ?? 0, ofShare, ofSlot)) from = middle + 1
    else to = middle
  }
  return from
}

function comesBefore(share: Float64Array, slot: number, otherShare: number, other: number): boolean {
  const own = share[slot] ?? 0
  return own > otherShare || (own === otherShare && slot < other)
}
