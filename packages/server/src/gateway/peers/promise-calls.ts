// Asks nodes about promises and votes, and server replicas whether they still hear a node.
// See docs/design/promotable-nodes.md#calls

import { type AskedVolume, capabilitiesOf, PROMISES, type PromiseAnswer } from '@holdfast/contract'
import type { PromiseCalls } from '../../ports/promise-calls.ts'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import type { NodeCalls } from './call-node.ts'

type Calls = Pick<NodeCalls, 'callNode' | 'silenceOf'>

export function createPromiseCalls(context: GatewayContext, calls: Calls): PromiseCalls {
  const isUnheard = createUnheard(context.times.silentMs)
  const recordOf = ({ tenant, nodeId }: NodeAddress) =>
    context.store.get(inTenant(tenant, nodes, nodeId))?.record
  return {
    async askPromises(tenant, nodeId, method, volumes) {
      // An agent that does not know the method could end the session.
      if (!capabilitiesOf(recordOf({ tenant, nodeId })?.agent).includes(PROMISES)) return 'unreachable'
      const { promises } = await calls.callNode(tenant, nodeId, method, { volumes })
      return promises === undefined ? 'unreachable' : promises.filter((one) => isValid(one, volumes))
    },
    async isSilent(tenant, nodeId) {
      const status = recordOf({ tenant, nodeId })?.status
      // The holder of the session wrote the status after a longer silence, and a new session ends it.
      const isDown = status === undefined || status === 'unreachable' || status === 'failed'
      const silence = isDown ? Number.POSITIVE_INFINITY : await calls.silenceOf(tenant, nodeId)
      return isUnheard({ tenant, nodeId }, silence, performance.now())
    },
  }
}

const STATES: readonly string[] = ['primary', 'promised', 'expired', 'voted']

/** An answer about a volume that was not asked for, or with an unknown state, is dropped. */
function isValid(
  { volume, epoch, cv, state, held, lastWriteBy }: PromiseAnswer,
  asked: readonly AskedVolume[],
) {
  const stamps = [lastWriteBy, ...held.map(({ takenAt }) => takenAt)].flatMap((stamp) => stamp ?? [])
  const numbers = [
    ...[epoch, cv],
    ...held.flatMap((checkpoint) => [checkpoint.epoch, checkpoint.number]),
    ...stamps.flatMap(({ boot, ms }) => [boot, ms]),
  ]
  return (
    STATES.includes(state) &&
    asked.some((one) => one.volume === volume) &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
  )
}

interface Unheard {
  readonly since: number
  readonly askedAt: number
}

/**
 * Decides from the known silence of a node whether it is silent. If no server replica can tell, the silence counts from the
 * first such answer, as long as the caller keeps asking.
 */
function createUnheard(silentMs: number) {
  const unheard = new Map<string, Unheard>()
  return ({ tenant, nodeId }: NodeAddress, silence: number | undefined, now: number): boolean => {
    const key = `${tenant}/${nodeId}`
    for (const [old, { askedAt }] of unheard) if (now - askedAt > silentMs) unheard.delete(old)
    if (silence !== undefined) {
      unheard.delete(key)
      return silence >= silentMs
    }
    const since = unheard.get(key)?.since ?? now
    unheard.set(key, { since, askedAt: now })
    return now - since >= silentMs
  }
}
