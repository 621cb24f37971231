// One round of promotions for a tenant: every node is asked once about all its volumes, then each group is planned and, if a
// copy fits, promoted in one fenced transaction.

import {
  type AskedVolume,
  CALL_VOLUMES,
  type NodeId,
  type PromiseAnswer,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { nodesToAsk } from '@holdfast/core'
import {
  type PromotionMember,
  promotionGroup,
} from '../../../operations/volumes/promotion/promotion-group.ts'
import { asked } from '../../../operations/volumes/promotion/promotion-port.ts'
import {
  type Answers,
  isPrimarySilent,
  MAY_BE_PROMOTED,
  type PromotionDeps,
  planNow,
  stagePromotion,
  voteOfNode,
} from '../../../operations/volumes/promotion/try-promotion.ts'
import type { ReadRecord } from '../../../operations/volumes/volume-situation.ts'
import { copyReportId, copyReports, type StoredVolume, volumes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'
import { noteUnpromoted, reasonOf } from './note-unpromoted.ts'

export interface PromotionLoopDeps extends PromotionDeps {
  readonly leadership: Pick<Leadership, 'owns' | 'fenced' | 'subscribe'>
  onError(error: unknown, workKey: string): void
}

type Group = readonly PromotionMember[]
type AnswersOf = (nodeId: NodeId) => Promise<readonly PromiseAnswer[] | undefined>

/** Groups of one tenant that are promoted at the same time. */
const AT_ONCE = 8

/** Returns the volumes that must be checked again. */
export async function promoteTenant(
  deps: PromotionLoopDeps,
  tenant: TenantId,
  ids: ReadonlySet<VolumeId>,
): Promise<VolumeId[]> {
  if (!deps.leadership.owns(tenant)) return []
  const groups = openGroups(deps, tenant, ids)
  const answersOf = createQuestions(deps, tenant, groups)
  const queue = [...groups]
  const work = async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift())
      await promoteGuarded(deps, tenant, group, answersOf)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return groups.flat().map(({ volume }) => volume.id)
}

/** The groups with a copy whose promise has expired, or that could not be promoted before, each once. */
function openGroups(deps: PromotionLoopDeps, tenant: TenantId, ids: ReadonlySet<VolumeId>): Group[] {
  const read: ReadRecord = (address) => deps.store.get(address)?.record
  const seen = new Set<VolumeId>()
  return [...ids].flatMap((id) => {
    const volume = read(inTenant(tenant, volumes, id))
    if (volume === undefined || seen.has(id) || !isOpen(read, tenant, volume)) return []
    const group = promotionGroup({ ...deps, read, now: deps.clock.now() }, tenant, volume)
    for (const member of group) seen.add(member.volume.id)
    return group.length === 0 ? [] : [group]
  })
}

function isOpen(read: ReadRecord, tenant: TenantId, volume: StoredVolume): boolean {
  if (!MAY_BE_PROMOTED.includes(volume.phase)) return false
  const isExpired = (nodeId: NodeId): boolean => {
    const report = read(inTenant(tenant, copyReports, copyReportId(volume.id, nodeId)))
    return report?.isPromiseExpired === true && report.epoch === volume.primary?.epoch
  }
  return Boolean(volume.unpromoted) || volume.copies.some(({ nodeId }) => isExpired(nodeId))
}

/** Asks each node at most once in a round, about the volumes of all groups. */
function createQuestions(deps: PromotionLoopDeps, tenant: TenantId, groups: readonly Group[]): AnswersOf {
  const { askPromises } = deps.promotions
  const byNode = new Map<NodeId, StoredVolume[]>()
  for (const group of groups) {
    const members = group.map(({ volume }) => volume)
    for (const nodeId of nodesToAsk(members)) byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), ...members])
  }
  const ask = async (nodeId: NodeId, question: readonly AskedVolume[]) => {
    const parts = await Promise.all(
      chunks(question).map((part) => askPromises(tenant, nodeId, 'promises', part)),
    )
    return parts.includes('unreachable')
      ? undefined
      : parts.flatMap((part) => (part === 'unreachable' ? [] : part))
  }
  const answers = new Map<NodeId, ReturnType<AnswersOf>>()
  return async (nodeId) => {
    const known = answers.get(nodeId) ?? ask(nodeId, asked(byNode.get(nodeId) ?? []))
    answers.set(nodeId, known)
    return known
  }
}

const chunks = (question: readonly AskedVolume[]): (readonly AskedVolume[])[] =>
  Array.from({ length: Math.ceil(question.length / CALL_VOLUMES) }, (_, at) =>
    question.slice(at * CALL_VOLUMES, (at + 1) * CALL_VOLUMES),
  )

async function promoteGuarded(
  deps: PromotionLoopDeps,
  tenant: TenantId,
  group: Group,
  answersOf: AnswersOf,
): Promise<void> {
  try {
    await promoteOne(deps, tenant, group, answersOf)
  } catch (error) {
    // The process that owns the shard now continues. After any other error the next round reads what was written.
    if (!(error instanceof LostLeadershipError)) deps.onError(error, `${tenant}/${group[0]?.volume.id}`)
  }
}

const NO_ANSWERS: Answers = new Map()

async function promoteOne(
  deps: PromotionLoopDeps,
  tenant: TenantId,
  group: Group,
  answersOf: AnswersOf,
): Promise<void> {
  const state = { members: group, isPrimarySilent: await isPrimarySilent(deps, tenant, group) }
  const volumesOf = group.map(({ volume }) => volume)
  const early = planNow(deps, state, NO_ANSWERS)
  if ('wait' in early && early.wait !== 'no_candidate')
    return noteUnpromoted(deps, tenant, volumesOf, reasonOf(early))
  const answered = await Promise.all(
    nodesToAsk(volumesOf).map(async (nodeId) => {
      const answers = await answersOf(nodeId)
      return answers === undefined ? [] : [[nodeId, answers] as const]
    }),
  )
  const plan = planNow(deps, state, new Map(answered.flat()))
  if ('wait' in plan) return noteUnpromoted(deps, tenant, volumesOf, reasonOf(plan))
  const vote = await voteOfNode(deps, tenant, group, plan.prepare)
  const [first] = volumesOf
  // The vote permits the promotion in any case; a primary that is back makes it needless.
  if (vote === undefined || first === undefined || !(await isPrimarySilent(deps, tenant, group))) return
  await deps.leadership.fenced(tenant, (transaction) => {
    const promoted = stagePromotion(deps, transaction, tenant, first.id, vote)
    return { kind: promoted === undefined ? 'abort' : 'commit', result: undefined }
  })
}
