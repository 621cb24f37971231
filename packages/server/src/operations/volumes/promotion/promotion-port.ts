// The calls to agents that a promotion needs, and the questions to all copies of a group.

import type { AskedVolume, NodeId, PromiseAnswer, TenantId } from '@holdfast/contract'
import type { PromotionLimits } from '@holdfast/core'
import type { StoredVolume } from '../../../store/records.ts'

/**
 * Asks a node about its promises (`promises`), or for its votes (`prepare`). `unreachable` means that the answer is
 * unknown: the node may have voted.
 */
export type AskPromises = (
  tenant: TenantId,
  nodeId: NodeId,
  method: 'promises' | 'prepare',
  volumes: readonly AskedVolume[],
) => Promise<readonly PromiseAnswer[] | 'unreachable'>

export interface PromotionPort {
  readonly askPromises: AskPromises
  /** Whether the server has heard nothing of the node for as long as a primary must be silent. */
  isSilent(tenant: TenantId, nodeId: NodeId): boolean
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
