// The set of visited states, by 64-bit hashes of their codes, and the step by which each was first reached. Two different
// states with one hash would hide one of them; with ten million states this happens once in some 400,000 searches.

const LOAD = 0.7

export class SeenStates {
  #high = new Uint32Array(1 << 16)
  #low = new Uint32Array(1 << 16)
  #parents = new Uint32Array(1 << 16)
  #ordinals = new Uint16Array(1 << 16)
  size = 0

  /** Adds a state. Returns false if it was present. */
  add(code: Uint8Array, parent: number, ordinal: number): boolean {
    const [high, low] = hash(code)
    if (!this.#insert(high, low)) return false
    if (this.size === this.#parents.length) this.#growSteps()
    this.#parents[this.size] = parent
    this.#ordinals[this.size] = ordinal
    this.size += 1
    if (this.size > this.#high.length * LOAD) this.#grow()
    return true
  }

  /** The ordinals of the steps from the first state to this one. */
  path(state: number): number[] {
    const ordinals: number[] = []
    for (let at = state; at > 0; at = this.#parents[at] ?? 0) ordinals.push(this.#ordinals[at] ?? 0)
    return ordinals.reverse()
  }

  #insert(high: number, low: number): boolean {
    const mask = this.#high.length - 1
    let at = low & mask
    while (this.#high[at] !== 0) {
      if (this.#high[at] === high && this.#low[at] === low) return false
      at = (at + 1) & mask
    }
    this.#high[at] = high
    this.#low[at] = low
    return true
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low]
    this.#high = new Uint32Array(high.length * 2)
    this.#low = new Uint32Array(high.length * 2)
    for (let at = 0; at < high.length; at += 1) {
      const each = high[at] ?? 0
      if (each !== 0) this.#insert(each, low[at] ?? 0)
    }
  }

  #growSteps(): void {
    const [parents, ordinals] = [this.#parents, this.#ordinals]
    this.#parents = new Uint32Array(parents.length * 2)
    this.#ordinals = new Uint16Array(parents.length * 2)
    this.#parents.set(parents)
    this.#ordinals.set(ordinals)
  }
}

/** Two multiplicative hashes with a final mix. The high half is never 0, which marks an empty place. */
function hash(code: Uint8Array): readonly [number, number] {
  let [one, two] = [0x9e3779b9, 0x7f4a7c15]
  for (let at = 0; at < code.length; at += 1) {
    const value = code[at] ?? 0
    one = Math.imul(one ^ value, 0x85ebca6b)
    one ^= one >>> 13
    two = Math.imul(two ^ value, 0xc2b2ae35)
    two ^= two >>> 15
  }
  one = Math.imul(one ^ (two >>> 16), 0x27d4eb2f)
  two = Math.imul(two ^ (one >>> 15), 0x165667b1)
  return [(one ^ (one >>> 16)) >>> 0 || 1, (two ^ (two >>> 13)) >>> 0]
}
