// Random numbers from a seed: a test run with the same seed repeats exactly.

export interface Random {
  /** A random number from 0, below 1. */
  unit(): number
  /** A random integer from 0, below `end`. */
  below(end: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly [T, ...T[]]): T
}

/** Creates a mulberry32 generator from a seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(unit() * end)
  return {
    unit,
    below,
    chance: (probability) => unit() < probability,
    pick: (from) => from[below(from.length)] ?? from[0],
  }
}
