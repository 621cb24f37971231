// The answers of this node to the controller, about the promises of its copies and with their votes. A vote leaves only
// after it is on disk, and lists the checkpoints that the node had afterwards: it no longer stores those of that epoch.

import type { AskedVolume, PromiseAnswer, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import { newestFirst } from '@holdfast/core/node'
import { lastWriteOf } from '@holdfast/core/promotion/copy'
import { promiseState, voteFor } from '@holdfast/core/promotion/node/copy-promise'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import { MAX_HELD } from '../peer/messages.ts'
import type { PoolContents } from '../ports/volume-pool.ts'
import type { HeldStamps } from './held-stamps.ts'
import type { PromiseTable } from './promise-table.ts'

export type PromiseMethod = 'promises' | 'prepare'

export interface ControllerDeps {
  readonly table: PromiseTable
  readonly stamps: Pick<HeldStamps, 'of'>
  /** The complete checkpoints of the pool that are on disk. Rejects if the pool cannot be read. */
  list(): Promise<PoolContents>
  nowMs(): number
  readonly timings: PromotionTimings
  readonly log: Logger
}

export type AnswerController = (
  method: PromiseMethod,
  asked: readonly AskedVolume[],
) => Promise<PromiseAnswer[]>

export function createControllerAnswers(deps: ControllerDeps): AnswerController {
  return async (method, asked) => {
    if (method === 'prepare') for (const one of asked) prepare(deps, one)
    await deps.table.synced()
    const isHeld = asked.some(({ volume }) => deps.table.of(volume)?.role === 'copy')
    const { checkpoints } = isHeld ? await deps.list() : { checkpoints: [] }
    return asked.flatMap(({ volume }) =>
      answer(
        deps,
        volume,
        checkpoints.filter((one) => one.volume === volume),
      ),
    )
  }
}

function prepare({ table, nowMs, timings, log }: ControllerDeps, { volume, ...asked }: AskedVolume): void {
  const role = table.of(volume)
  const copy = role?.role === 'copy' ? voteFor(role.copy, asked, nowMs(), timings) : undefined
  if (copy === undefined) return
  table.replace(volume, { role: 'copy', copy })
  log.info({ volume, epoch: asked.epoch, cv: asked.cv }, 'voted for a promotion')
}

function answer(
  { table, stamps, nowMs, timings }: ControllerDeps,
  volume: VolumeId,
  held: readonly VolumeCheckpoint[],
): PromiseAnswer[] {
  const role = table.of(volume)
  if (role === undefined) return []
  if (role.role === 'primary') {
    const { epoch, cv } = role.primary.durable
    return [{ volume, epoch, cv, state: 'primary', held: [] }]
  }
  const { epoch, cv } = role.copy.durable
  const lastWriteBy = lastWriteOf(role.copy, timings)
  const listed = newestFirst(held)
    .slice(0, MAX_HELD)
    .map((one) => {
      const takenAt = stamps.of(volume, one)
      return { epoch: one.epoch, number: one.number, ...(takenAt && { takenAt }) }
    })
  const state = promiseState(role.copy, nowMs())
  return [{ volume, epoch, cv, state, held: listed, ...(lastWriteBy && { lastWriteBy }) }]
}
