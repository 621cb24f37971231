// All randomness of a simulation comes from its seed: numbers, bytes and ids.

import { ulid } from '@holdfast/contract'
import type { IdSource } from '@holdfast/server/ports/clock'

export interface Random {
  /** A random number from 0 inclusive to 1 exclusive. */
  number(): number
  /** A random whole number from 0 to `below`, exclusive. */
  below(below: number): number
  bytes(count: number): Uint8Array
}

/** The generator `mulberry32`. Its state of 32 bits is enough for one script. */
export function createRandom(seed: number, stream: string): Random {
  let state = mixed(seed, stream)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return (bits ^ (bits >>> 14)) >>> 0
  }
  return {
    number: () => next() / 2 ** 32,
    below: (below) => Math.floor((next() / 2 ** 32) * below),
    bytes: (count) => Uint8Array.from({ length: count }, () => next() >>> 24),
  }
}

/** Combines seed and stream name, so that one seed has independent random streams. */
function mixed(seed: number, stream: string): number {
  let state = seed | 0
  for (const character of stream) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return state ^ (state >>> 16)
}

/** Generates ids from random numbers and from `now`, the virtual time. */
export function createIds(random: Random, now: () => number): IdSource {
  return {
    ulid: () => ulid(now(), random.bytes(10)),
    uuid: () => uuid(random.bytes(16)),
    bytes: (count) => random.bytes(count),
  }
}

function uuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ]
  return parts.join('-')
}
