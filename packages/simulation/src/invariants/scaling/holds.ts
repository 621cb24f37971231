// Invariant: a scaling policy does not fight other changes. It changes nothing during a rollout, removes nothing while a node of
// a replica is drained, and adds nothing while a desired replica has no node or the quota is used up.

import { ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredDeployment, StoredPlacement } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { replicasOf } from '../placement/replicas-of.ts'
import { createRecentLimits } from '../records/recent-limit.ts'
import { createSince, scalingSteps } from './steps.ts'

/** Time until every controller has certainly seen a change: longer than the cache lag of any server replica. */
const SEEN_AFTER_MS = 20_000

export const scalingHolds: Invariant = {
  name: 'scaling-holds',
  start() {
    const limits = createRecentLimits('containers')
    const holds = {
      rollout: createSince(),
      drain: createSince(),
      unplaced: createSince(),
      quota: createSince(),
    }
    return function* (moment) {
      limits.note(moment)
      const { now } = moment
      for (const { tenant, stored, from, to } of scalingSteps(moment)) {
        const held = (
          ['rollout', to < from ? 'drain' : 'unplaced', to > from ? 'quota' : 'rollout'] as const
        ).find((hold) => holds[hold].lastedMs(stored.uid, now) >= SEEN_AFTER_MS)
        if (held !== undefined)
          yield {
            subject: `${tenant}/${stored.spec.name}`,
            message: `was scaled from ${from} to ${to}: ${held}`,
          }
      }
      for (const { tenant, record } of moment.deployments.all) {
        if (tenant === undefined || record.scaling === undefined) continue
        const placement = moment.placements.is(tenant, ownerOf('deployment', record.uid))
        holds.rollout.note(record.uid, isRolledOut(placement), now)
        holds.drain.note(record.uid, isDrained(moment, tenant, placement), now)
        holds.unplaced.note(record.uid, isUnplaced(record, placement), now)
        holds.quota.note(record.uid, countOf(moment, tenant) >= limits.of(tenant, now), now)
      }
    }
  },
}

/** A rollback stays in the record when it is complete, so only updates are judged. */
const isRolledOut = (placement: StoredPlacement | undefined): boolean =>
  placement?.rollout !== undefined && placement.rollout.state !== 'rolling_back'

const isDrained = ({ nodes }: Moment, tenant: TenantId, placement: StoredPlacement | undefined): boolean =>
  placement?.assignments.some(({ nodeId }) => nodes.is(tenant, nodeId)?.draining === true) === true

function isUnplaced(stored: StoredDeployment, placement: StoredPlacement | undefined): boolean {
  const placed = placement?.assignments.filter(({ desired }) => desired === 'running') ?? []
  return new Set(placed.map(({ replica }) => replica)).size < replicasOf(stored)
}

const countOf = ({ placements }: Moment, tenant: TenantId): number =>
  placements.all
    .filter((kept) => kept.tenant === tenant)
    .reduce((sum, { record }) => sum + record.assignments.length, 0)
