// The real clock and the real randomness. Only composition roots import this.

import { randomBytes, randomUUID } from 'node:crypto'
import { ulid } from '@holdfast/contract'
import type { Clock, IdSource } from './ports/clock.ts'

export const realClock: Clock = { now: () => Date.now() }

export const realIds: IdSource = {
  ulid: () => ulid(Date.now(), randomBytes(10)),
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
}
