// Invariants of scaling policies against a second implementation of the formula, from the true load. They judge calm times only:
// the load, the replicas and the policy have not changed for longer than a mean covers, and every machine is reached. Within the
// tolerance nothing changes, a step leads towards the number of the formula, and at the end that number is reached.

import { type DeploymentUid, durationMs, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { scalingSteps } from './steps.ts'

/** A mean covers a minute; samples arrive each 10 s, and the last one before a change may be late. */
const CALM_MS = 90_000
/** Further rounds of 30 s after which a step must have happened: three lost ones, and one for each further step up. */
const ROUNDS_MS = 240_000

interface Calm {
  readonly key: string
  readonly since: number
}

export const scalingReference: Invariant = {
  name: 'scaling-reference',
  start() {
    const calm = createCalm(keyOf)
    const steady = createCalm(steadyKeyOf)
    return function* (moment) {
      // The steps of this moment end the calm that is noted afterwards.
      for (const { tenant, stored, scaling, from, to } of scalingSteps(moment)) {
        if (steady.lastedMs(stored.uid, moment.now) >= CALM_MS)
          yield {
            subject: stored.spec.name,
            message: `was scaled from ${from} to ${to} within the tolerance`,
          }
        if (calm.lastedMs(stored.uid, moment.now) < CALM_MS) continue
        const wanted = reference(moment, tenant, { ...stored, scaling: { ...scaling, desired: from } })
        const isToward = to > from ? to <= wanted : to >= wanted && wanted < from
        if (!isToward)
          yield {
            subject: stored.spec.name,
            message: `was scaled from ${from} to ${to}, and ${wanted} are right`,
          }
      }
      calm.note(moment)
      steady.note(moment)
    }
  },
}

export const scalingSettled: Invariant = {
  name: 'scaling-settled',
  atEnd: true,
  start() {
    return function* (moment) {
      for (const { tenant, record } of moment.deployments.all)
        if (tenant !== undefined && record.scaling !== undefined) yield* unsettled(moment, tenant, record)
    }
  },
}

function* unsettled(moment: Moment, tenant: TenantId, stored: StoredDeployment): Generator<Broken> {
  const { scaling, spec } = stored
  const changed = moment.world.loadsChangedAt.get(`${tenant}/${spec.name}`) ?? 0
  const delayMs = durationMs(scaling?.policy.scaleDownDelay ?? '0s') ?? 0
  const placement = moment.placements.is(tenant, ownerOf('deployment', stored.uid))
  const isQuiet = moment.now - changed >= delayMs + CALM_MS + ROUNDS_MS && placement?.rollout === undefined
  if (!isQuiet || spec.replicas === 0 || placement?.shortfall !== undefined) return
  const wanted = reference(moment, tenant, stored)
  if (scaling !== undefined && wanted !== scaling.desired)
    yield { subject: spec.name, message: `has ${scaling.desired} replicas, and ${wanted} are right` }
}

type KeyOf = (moment: Moment, tenant: TenantId, stored: StoredDeployment) => string | undefined

function createCalm(keyOf: KeyOf) {
  const known = new Map<DeploymentUid, Calm>()
  return {
    lastedMs: (uid: DeploymentUid, now: number): number => now - (known.get(uid)?.since ?? now),
    note(moment: Moment): void {
      for (const { tenant, record } of moment.deployments.all) {
        if (tenant === undefined || record.scaling === undefined) continue
        const key = keyOf(moment, tenant, record)
        if (key === undefined) known.delete(record.uid)
        else if (known.get(record.uid)?.key !== key) known.set(record.uid, { key, since: moment.now })
      }
    },
  }
}

/** Like `keyOf`, for loads that change within the tolerance: the mean of such values is within it, too. */
function steadyKeyOf(moment: Moment, tenant: TenantId, stored: StoredDeployment): string | undefined {
  const [, ...others] = keyOf(moment, tenant, stored)?.split(',') ?? []
  const { used, target } = usageOf(moment, tenant, stored)
  return others.length > 0 && 10 * Math.abs(used - target) <= target ? others.join() : undefined
}

/** Everything that a measured mean depends on; undefined while a machine is not reached or a report is outstanding. */
function keyOf(moment: Moment, tenant: TenantId, stored: StoredDeployment): string | undefined {
  const own = moment.world.machines.filter((machine) => machine.tenant === tenant)
  const isReached = own.every(
    ({ powered, connected, isHeard, isCut }) => powered && connected && isHeard && !isCut,
  )
  const ready = readyOf(moment, tenant, stored)
  const placement = moment.placements.is(tenant, ownerOf('deployment', stored.uid))
  const seen = placement?.assignments.filter(
    ({ id }) => moment.observations.is(tenant, id)?.state === 'ready',
  )
  if (
    !isReached ||
    seen
      ?.map(({ id }) => id)
      .sort()
      .join() !== ready.join()
  )
    return undefined
  const load = moment.world.loads.get(`${tenant}/${stored.spec.name}`) ?? 0
  return [load, stored.revision, stored.scaling?.revision, ...ready].join()
}

const readyOf = ({ world }: Moment, tenant: TenantId, { uid }: StoredDeployment): string[] =>
  world.machines
    .filter((machine) => machine.tenant === tenant)
    .flatMap(({ containers }) => containers)
    .filter(({ owner, state }) => owner === ownerOf('deployment', uid) && state === 'ready')
    .map(({ assignmentId }) => assignmentId)
    .sort()

/** The number of replicas for the true load: the present one within a tenth of the target, otherwise that of the formula. */
function reference(moment: Moment, tenant: TenantId, stored: StoredDeployment): number {
  const { scaling, spec } = stored
  if (scaling === undefined) return spec.replicas
  const { min, max } = scaling.policy
  const { ready, used, target } = usageOf(moment, tenant, stored)
  if (ready === 0 || 10 * Math.abs(used - target) <= target) return scaling.desired
  return Math.min(max, Math.max(min, Math.ceil((ready * used) / target)))
}

/** The usage of each ready replica and its target, in hundredths of a CPU milli. */
function usageOf(moment: Moment, tenant: TenantId, stored: StoredDeployment) {
  const { scaling, spec } = stored
  const ready = readyOf(moment, tenant, stored).length
  const load = moment.world.loads.get(`${tenant}/${spec.name}`) ?? 0
  const used = 100 * Math.round(load / Math.max(1, ready))
  return { ready, used, target: (scaling?.policy.targetPercent ?? 0) * spec.resources.cpuMillis }
}
