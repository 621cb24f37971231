// Whether a pool has room for a new copy. Existing copies are never shrunk or removed for lack of room.

/** The share of a pool that may be in use before it gets a new copy. */
const USABLE = 0.95

export const hasRoom = (pool: { readonly poolBytes: number; readonly usedBytes: number }): boolean =>
  pool.usedBytes < pool.poolBytes * USABLE
