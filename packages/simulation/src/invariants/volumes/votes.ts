// Invariants of the configuration version: a promotion relies on a vote that still stands, and the primary needs the
// promise of every node that may be promoted.

import type { Invariant } from '../invariant.ts'
import { copyOf, machineOf, promotionIn } from './lineage.ts'

/**
 * Invariant: at the moment of a promotion, the new primary has on its disk a vote for exactly the version that the promotion
 * replaces. A vote for an earlier version may have been withdrawn, and the old primary may write again.
 */
export const voteStands: Invariant = {
  name: 'vote-stands',
  start: () =>
    function* (moment) {
      for (const change of moment.volumes.changed) {
        const { tenant, was, is } = change
        if (is === undefined || promotionIn(change) === undefined) continue
        const machine = machineOf(moment, tenant, is.primary?.nodeId)
        const vote = copyOf(machine, is.id)?.promise
        const isVote = vote?.role === 'copy' && vote.prepared
        const [epoch, cv] = [was?.primary?.epoch, was?.cv ?? 0]
        if (machine !== undefined && !(isVote && vote.epoch === epoch && vote.cv === cv))
          yield {
            subject: is.spec.name,
            message: `in version ${epoch}.${cv} is promoted on ${machine.name}, which has ${isVote ? 'voted' : 'not voted'} in ${vote?.epoch}.${vote?.cv}`,
          }
      }
    },
}

/**
 * Invariant: the primary needs the promise of every promotable node, durably. A node is listed only after the primary has
 * noted it, and the primary drops it only after the record has.
 */
export const promisesNeeded: Invariant = {
  name: 'promises-needed',
  start: () =>
    function* (moment) {
      for (const { tenant, record } of moment.volumes.all) {
        const { id, spec, primary, promotable = [] } = record
        if (primary === null || promotable.length === 0) continue
        const machine = machineOf(moment, tenant, primary.nodeId)
        const role = copyOf(machine, id)?.promise
        if (machine === undefined || role?.role !== 'primary' || role.epoch !== primary.epoch) continue
        const needed = new Set<string>([...role.configured, ...role.asked])
        const missing = promotable.filter((nodeId) => !needed.has(nodeId))
        if (missing.length > 0)
          yield {
            subject: spec.name,
            message: `may be promoted on ${missing.join(', ')}, whose promise ${machine.name} does not need`,
          }
      }
    },
}
