// The system's clock and source of randomness. Only composition roots import this file.

import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { ulid } from '@holdfast/contract'
import type { Clock, IdSource } from './ports/clock.ts'

export const realClock: Clock = { now: () => Date.now() }

/** Random bytes, fetched from the kernel in blocks, because ids need ten bytes many times a second. */
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
