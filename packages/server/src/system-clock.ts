// The real clock and the real randomness. Only composition roots import this.

import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { ulid } from '@holdfast/contract'
import type { Clock, IdSource } from './ports/clock.ts'

export const realClock: Clock = { now: () => Date.now() }

/** Ids want ten random bytes many times a second; asking the kernel for a page at a time is cheaper. */
const pool = Buffer.alloc(4000)
let spent = pool.length

function idBytes(): Uint8Array {
  if (spent === pool.length) {
    randomFillSync(pool)
    spent = 0
  }
  spent += 10
  return pool.subarray(spent - 10, spent)
}

export const realIds: IdSource = {
  ulid: () => ulid(Date.now(), idBytes()),
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
}
