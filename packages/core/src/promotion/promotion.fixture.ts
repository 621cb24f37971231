// Records and states of a group with the primary a and the copy b, for tests.

import { type CopyState, startCopy } from './copy.ts'
import type { GroupRecord } from './group-record.ts'
import type { Checkpoint, Renew, Vote } from './messages.ts'
import { type PrimaryDurable, type PrimaryState, startPrimary } from './primary.ts'
import { PROMOTION_TIMINGS } from './timings.ts'

export const checkpoint = (number: number, epoch = 1): Checkpoint => ({
  epoch,
  number,
  takenAt: { boot: 1, ms: number * 1_000 },
})

export const record = (changes: Partial<GroupRecord> = {}): GroupRecord => ({
  epoch: 1,
  primary: 'a',
  promotable: ['b'],
  cv: 1,
  handover: undefined,
  ...changes,
})

const DURABLE: PrimaryDurable = {
  epoch: 1,
  cv: 1,
  configured: ['b'],
  asked: [],
  handover: undefined,
  checkpoint: 1,
}

/** A primary with a promise from b at time 0. */
export function primary(changes: Partial<PrimaryDurable> = {}): PrimaryState {
  const file = { boot: 1, lease: new Map([['b', 0]]) }
  const started = startPrimary({
    node: 'a',
    copies: ['b'],
    durable: { ...DURABLE, ...changes },
    boot: 1,
    file,
  })
  return { ...started, stored: new Map([['b', 1]]) }
}

/** A copy that started at time 0 and holds checkpoint 1 of two volumes. */
export const copy = (changes: Partial<CopyState['durable']> = {}): CopyState =>
  startCopy(
    {
      node: 'b',
      volumes: ['data', 'wal'],
      durable: { epoch: 1, cv: 1, prepared: false, held: [checkpoint(1), checkpoint(1)], ...changes },
      start: 1,
    },
    0,
    PROMOTION_TIMINGS,
  )

export const renew = (changes: Partial<Renew> = {}): Renew => ({
  kind: 'renew',
  from: 'a',
  to: 'b',
  epoch: 1,
  cv: 1,
  sent: { boot: 1, ms: 5_000 },
  start: 1,
  ...changes,
})

export const vote = (changes: Partial<Vote> = {}): Vote => ({
  kind: 'vote',
  from: 'b',
  epoch: 1,
  cv: 1,
  cause: 'expired',
  held: checkpoint(4),
  lastWriteBy: { boot: 1, ms: 17_000 },
  force: undefined,
  ...changes,
})
