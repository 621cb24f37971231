// The side of a copy: answers the renewals of primaries. A set of volumes that this node does not know is requested in full.

import type { DesiredCopy, NodeId, VolumeId } from '@holdfast/contract'
import { acknowledge } from '@holdfast/core/promotion/node/copy-promise'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import type { PeerConnection } from '../peer/connection.ts'
import type { Answer, RenewItem, RenewRequest } from '../peer/messages.ts'
import { nameOfSet } from '../peer/renewals.ts'
import type { PromiseTable } from './promise-table.ts'

const SET_MS = 10_000

export interface RenewalDeps {
  readonly table: PromiseTable
  desired(volume: VolumeId): DesiredCopy | undefined
  readonly start: number
  /** Whether the numbers of this start and of this boot are on disk. */
  mayPromise(): boolean
  nowMs(): number
  readonly timings: PromotionTimings
}

export type AnswerRenewal = (from: NodeId, request: RenewRequest, connection: PeerConnection) => Promise<void>

interface KnownSet {
  readonly name: string
  readonly items: readonly RenewItem[]
}

export function createRenewalAnswers(deps: RenewalDeps): AnswerRenewal {
  const known = new Map<NodeId, KnownSet>()
  const connections = new Map<NodeId, PeerConnection>()
  return async (from, request, connection) => {
    // A node renews over one connection, so an older one is a leftover of a lost network.
    if (connections.get(from) !== connection) connections.get(from)?.close()
    connections.set(from, connection)
    if (request.isFull === true) {
      const items = await connection.readSet(SET_MS)
      known.set(from, { name: nameOfSet(items), items })
    }
    await connection.answer(answer(deps, from, request, known.get(from)))
  }
}

function answer(
  { table, desired, start, mayPromise, nowMs, timings }: RenewalDeps,
  from: NodeId,
  { sent, start: knownStart, lease, set }: RenewRequest,
  known: KnownSet | undefined,
): Answer {
  if (!mayPromise()) return { answer: 'refused', reason: 'not_on_disk' }
  // With another length, the primary would write longer than this node promises.
  if (lease !== timings.leaseMs) return { answer: 'refused', reason: 'other_lease' }
  if (known?.name !== set) return { answer: 'unknown_set' }
  const refused: number[] = []
  const arrivedMs = nowMs()
  for (const [position, { volume, epoch, cv }] of known.items.entries()) {
    const role = table.of(volume)
    const renewal = { from, epoch, cv, sent, start: knownStart }
    const next =
      role?.role === 'copy' ? acknowledge(role.copy, desired(volume), renewal, arrivedMs, timings) : undefined
    if (next === undefined) refused.push(position)
    else table.replace(volume, { role: 'copy', copy: next })
  }
  return { answer: 'renewed', start, ...(refused.length > 0 && { refused }) }
}
