// The calls to agents that a promotion needs, and the questions to all copies of a group.

import type { AskedVolume } from '@holdfast/contract'
import type { PromotionLimits } from '@holdfast/core'
import type { PromiseCalls } from '../../../ports/promise-calls.ts'
import type { StoredVolume } from '../../../store/records.ts'

export interface PromotionPort extends PromiseCalls {
  readonly limits: PromotionLimits
}

/** The port of a dry run: no node votes, and one that would vote counts as one that has. */
export function dryPort(port: PromotionPort): PromotionPort {
  return {
    ...port,
    async askPromises(tenant, nodeId, _method, volumes) {
      const answers = await port.askPromises(tenant, nodeId, 'promises', volumes)
      if (answers === 'unreachable') return answers
      return answers.map((answer) => (answer.state === 'expired' ? { ...answer, state: 'voted' } : answer))
    },
  }
}

/** The volumes as a node is asked about them. */
export const asked = (volumes: readonly StoredVolume[], force?: AskedVolume['force']): AskedVolume[] =>
  volumes.flatMap(({ id, primary, cv = 0 }) =>
    primary === null ? [] : [{ volume: id, epoch: primary.epoch, cv, ...(force && { force }) }],
  )
