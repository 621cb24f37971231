// POST .../volumes/{id}/promote: an operator has a copy replace the silent primary of a volume, with all volumes that the
// same workload writes. See docs/design/promoting.md#operators

import {
  decode,
  isVolumeId,
  type Json,
  type TenantId,
  type Volume,
  volumePromotionShape,
} from '@holdfast/contract'
import { type Demand, type GroupVote, nodesToAsk, reject } from '@holdfast/core'
import { type StoredVolume, volumes } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, type Refused, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { recordAudit } from '../../record-write.ts'
import { findToChange } from '../change-volume.ts'
import type { VolumeDeps } from '../deps.ts'
import { volumeNotFound } from '../read-volumes.ts'
import { volumeView } from '../volume-view.ts'
import { promotionGroup } from './promotion-group.ts'
import { asked } from './promotion-port.ts'
import { type CannotPromote, changedSinceAsked, waitingFor } from './promotion-refusals.ts'
import {
  type Answers,
  type GroupState,
  isPrimarySilent,
  MAY_BE_PROMOTED,
  planNow,
  stagePromotion,
  voteOfNode,
} from './try-promotion.ts'

export async function promoteVolume(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  body: Json,
  kept: Kept<Volume>,
): Promise<Outcome<Volume>> {
  const faults = checkShape(volumePromotionShape, body)
  if (faults.length > 0) return refused(...faults)
  await deps.store.fresh()
  const found = isVolumeId(id) ? deps.store.get(inTenant(caller.tenant, volumes, id)) : undefined
  if (found === undefined) return volumeNotFound(id)
  const volume = found.record
  const demand = demandFor(volume, decode(volumePromotionShape, body))
  if (!demand.ok) return demand
  const voted = await findVote(deps, caller.tenant, volume, demand.value)
  if (!voted.ok) return voted
  return deps.store.transact<Outcome<Volume>>((transaction) =>
    decide(deps, transaction, caller, { volume, demand: demand.value, vote: voted.value, kept }),
  )
}

interface SentPromotion {
  readonly nodeId?: string
  readonly force?: boolean
  readonly primaryIsDead?: boolean
}

/** Checks the request against the record of the volume, before any node is asked. */
function demandFor(
  { spec, phase, primary, copies }: StoredVolume,
  { nodeId, force = false, primaryIsDead = false }: SentPromotion,
): Outcome<Demand> {
  const invalid = (reason: string) =>
    refused(reject('replica_node_invalid', 'nodeId', nodeId ?? null, { reason }))
  if (spec.class !== 'replicated') return invalid(`a volume of class ${spec.class} has no copies`)
  if (primary === null || !MAY_BE_PROMOTED.includes(phase))
    return refused(reject('volume_not_ready', 'id', phase, { phase }))
  if (nodeId === undefined) return done({ force, primaryIsDead })
  const copy = copies.find((each) => each.nodeId === nodeId)
  if (copy === undefined) return invalid('it holds no copy of the volume')
  if (copy.role === 'primary') return invalid('it holds the primary of the volume already')
  return done({ force, primaryIsDead, nodeId: copy.nodeId })
}

/** Asks the copies, and the one that fits best for its votes. */
async function findVote(
  deps: VolumeDeps,
  tenant: TenantId,
  volume: StoredVolume,
  demand: Demand,
): Promise<Outcome<GroupVote>> {
  const { store, clock } = deps
  const situation = { ...deps, read: readCached(store), now: clock.now() }
  const members = promotionGroup(situation, tenant, volume)
  const refusals: CannotPromote = { store, tenant, volume, demand }
  const state: GroupState = { members, isPrimarySilent: await isPrimarySilent(deps, tenant, members), demand }
  const plan = planNow(deps, state, await askCopies(deps, tenant, state))
  if ('wait' in plan) return waitingFor(refusals, plan)
  const vote = await voteOfNode(deps, tenant, members, plan.prepare, demand)
  return vote === undefined ? changedSinceAsked(refusals) : done(vote)
}

const readCached =
  (store: VolumeDeps['store']): Parameters<typeof promotionGroup>[0]['read'] =>
  (address) =>
    store.get(address)?.record

async function askCopies(
  { promotions }: VolumeDeps,
  tenant: TenantId,
  { members, demand }: GroupState,
): Promise<Answers> {
  const group = members.map(({ volume }) => volume)
  const answered = await Promise.all(
    nodesToAsk(group, demand).map(async (nodeId) => {
      const answers = await promotions.askPromises(tenant, nodeId, 'promises', asked(group))
      return answers === 'unreachable' ? [] : [[nodeId, answers] as const]
    }),
  )
  return new Map(answered.flat())
}

interface VotedPromotion {
  readonly volume: StoredVolume
  readonly demand: Demand
  readonly vote: GroupVote
  readonly kept: Kept<Volume>
}

function decide(
  deps: VolumeDeps,
  transaction: Transaction,
  caller: Caller,
  { volume, demand, vote, kept }: VotedPromotion,
): TransactionDecision<Outcome<Volume>> {
  const { store, clock, answers } = deps
  const { tenant } = caller
  const abort = (result: Refused) => ({ kind: 'abort', result }) as const
  const found = findToChange(transaction, caller, volume.id, undefined)
  if (!found.ok) return abort(found)
  const promoted = stagePromotion(deps, transaction, tenant, volume.id, vote)
  const next = promoted?.find(({ id }) => id === volume.id)
  if (next === undefined) return abort(changedSinceAsked({ store, tenant, volume, demand }))
  recordAudit(transaction, clock, caller, {
    action: 'volumes:promote',
    subject: { kind: 'Volume', name: volume.spec.name },
    revision: next.revision,
    detail: {
      nodeId: vote.nodeId,
      epoch: String(next.primary?.epoch),
      force: String(demand.force),
      primaryIsDead: String(demand.primaryIsDead),
    },
  })
  return keepOnce(answers, transaction, caller, kept, volumeView(store, tenant, next))
}
