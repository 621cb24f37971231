// Carries out what the server decided about copies that the pool holds and that are not desired: they are put into
// quarantine or deleted. Without a decision a copy stays. See docs/design/endings.md#offers

import { asVolumeId, type OfferDecision, type PoolWipe } from '@holdfast/contract'
import { applicableDecisions, expiredQuarantine } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { DesiredChange } from '../ports/session.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { DesiredCopies } from './desired-copies.ts'
import type { PoolKeeper } from './keep-pool.ts'
import { offersIn, type PoolCopies, perform, readPoolCopies } from './pool-copies.ts'

export interface OfferKeeper {
  apply(change: DesiredChange): void
  /** Deletes all data of the pool on the order of the server. Never rejects. */
  wipe(order: PoolWipe | undefined): Promise<void>
  /** Returns what the pool holds afterwards. */
  perform(pool: VolumePool, held: PoolCopies): Promise<PoolCopies>
}

interface OfferDeps {
  readonly desired: Pick<DesiredCopies, 'copies'>
  readonly keeper: PoolKeeper | undefined
  now(): Date
  readonly log: Logger
}

export function createOfferKeeper({
  desired: { copies: desired },
  keeper,
  now,
  log,
}: OfferDeps): OfferKeeper {
  let decisions: readonly OfferDecision[] = []
  let newestRevision = 0
  let wentBack = false

  async function carryOut(pool: VolumePool, held: PoolCopies, decision: OfferDecision): Promise<void> {
    const { volume, epoch, action } = decision
    try {
      if (action === 'delete') await pool.remove(volume)
      else await pool.quarantine(volume, epoch, 'all')
      // The data is gone from its place, so the note must not claim any; the highest known epoch stays.
      const known = held.find(volume)?.note?.epoch ?? epoch
      if (action === 'delete') await pool.removeNote(volume)
      else await perform(pool, volume, { kind: 'note', note: { epoch: known } })
      log.warn({ ...decision }, 'undesired copy handled')
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log.warn({ ...decision, message }, 'undesired copy not handled, retrying')
    }
  }

  /** Deletes old quarantined data that newer data of the same volume replaced. */
  async function expire(pool: VolumePool, held: PoolCopies): Promise<boolean> {
    const expired = expiredQuarantine(held.quarantined, now().getTime())
    for (const one of expired) {
      await pool.removeQuarantined(one)
      log.warn({ volume: one.volume, name: one.name, since: one.since }, 'old quarantined data deleted')
    }
    return expired.length > 0
  }
  return {
    async wipe(order) {
      if (order === undefined) return
      // A release ends with the data of all copies. While the server desires one, its order is from another time.
      const isUsed = [...desired.values()].some((copy) => copy.desired === 'present')
      if (isUsed && order.reason === 'released')
        log.error({ ...order }, 'order to delete desired copies ignored')
      else await keeper?.wipe(order)
    },
    apply({ revision, complete, offers }) {
      if (complete && revision < newestRevision) wentBack = true
      newestRevision = Math.max(newestRevision, revision)
      // A store that was restored from a backup may not know of a copy that is still desired.
      decisions = wentBack ? [] : (offers ?? decisions)
    },
    async perform(pool, held) {
      const due = applicableDecisions(decisions, offersIn(held), desired)
      for (const decision of due)
        await carryOut(pool, held, { ...decision, volume: asVolumeId(decision.volume) })
      const isExpired = await expire(pool, held)
      return due.length > 0 || isExpired ? readPoolCopies(pool) : held
    },
  }
}
