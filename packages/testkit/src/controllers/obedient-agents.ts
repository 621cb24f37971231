// Agents that do as the placement records say, without sessions and engines: each change of a placement leads to what the
// agents would report of it. How a replica fares is asked of the test, by what its container is made of. Beside them, the
// watch over the promise of a rollout: a number that was served is never without a replica that serves.

import type { Assignment, ContainerTemplate, DeploymentUid, TenantId } from '@holdfast/contract'
import {
  nodes,
  observations,
  placements,
  type StoredObservation,
  type StoredPlacement,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'

/** Undefined: nothing is said of it, as of a node that is silent. */
export type Report = Partial<StoredObservation> | undefined
export type Behaviour = (template: ContainerTemplate, assignment: Assignment) => Report

export interface ObedientAgents {
  /** The fewest numbers that were served at any moment since it was last asked. */
  fewestServed(): number
  /** Looks at everything anew, after the test has changed how replicas fare. */
  look(): void
  /** From now on they do something only when `act` is called. */
  hold(): void
  /** Does what the records say now. */
  act(): Promise<void>
  /** How many reports were written. */
  readonly reports: number
  stop(): Promise<void>
}

export function startObedientAgents(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
  behave: Behaviour,
): ObedientAgents {
  let fewest = Number.POSITIVE_INFINITY
  let reports = 0
  let stopped = false
  let held = false
  let work: Promise<void> = Promise.resolve()
  const placement = () => store.get(inTenant(tenant, placements, uid))?.record
  const act = (): Promise<void> => {
    work = work.then(async () => {
      if (!stopped) reports += await reportAll(store, tenant, uid, behave)
    })
    return work
  }
  const look = (): void => {
    if (!held) void act()
  }
  const unwatch = store.subscribe((changes) => {
    const own = changes.filter(({ key }) => key.tenant === tenant)
    if (own.some(({ key }) => key.folder === observations.folder || key.id === uid))
      fewest = Math.min(fewest, servedOf(store, tenant, placement()))
    if (own.some(({ key }) => key.id === uid || key.folder === nodes.folder)) look()
  })
  look()
  return {
    fewestServed() {
      const seen = Math.min(fewest, servedOf(store, tenant, placement()))
      fewest = Number.POSITIVE_INFINITY
      return seen
    },
    look,
    act,
    hold() {
      held = true
    },
    get reports() {
      return reports
    },
    async stop() {
      stopped = true
      unwatch()
      await work
    },
  }
}

function servedOf(store: Store, tenant: TenantId, placement: StoredPlacement | undefined): number {
  const serving = (placement?.assignments ?? []).filter(({ id, desired }) => {
    const seen = store.get(inTenant(tenant, observations, id))?.record
    return desired === 'running' && seen?.state === 'ready' && seen.reason === ''
  })
  return new Set(serving.map(({ replica }) => replica)).size
}

const GONE: Report = { generation: 3, state: 'stopped', gone: true, containerId: null }

/** As the gateway does: compared with the placement, so that nothing is said of what was dropped meanwhile. */
async function reportAll(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
  behave: Behaviour,
): Promise<number> {
  return store.transact((transaction) => {
    const placement = transaction.get(inTenant(tenant, placements, uid))
    let count = 0
    for (const assignment of placement?.assignments ?? []) {
      const template = placement?.templates[assignment.templateHash]
      const node = store.get(inTenant(tenant, nodes, assignment.nodeId))?.record
      if (template === undefined || node === undefined || node.status === 'failed') continue
      const report = assignment.desired === 'removed' ? GONE : behave(template, assignment)
      const before = transaction.get(inTenant(tenant, observations, assignment.id))
      if (report === undefined || says(before, report)) continue
      count += 1
      transaction.put(inTenant(tenant, observations, assignment.id), {
        v: 1,
        assignmentId: assignment.id,
        generation: 1,
        seq: (before?.seq ?? 0) + 1,
        state: 'ready',
        containerId: 'c',
        startedAt: null,
        exitCode: null,
        restarts: 0,
        reason: '',
        gone: false,
        deployment: uid,
        nodeId: assignment.nodeId,
        at: '',
        ...report,
      })
    }
    return count === 0 ? { kind: 'abort', result: 0 } : { kind: 'commit', result: count }
  })
}

function says(before: StoredObservation | undefined, report: NonNullable<Report>): boolean {
  const wanted = { state: 'ready' as const, reason: '', restarts: 0, gone: false, ...report }
  return (
    before?.state === wanted.state &&
    before.reason === wanted.reason &&
    before.restarts === wanted.restarts &&
    before.gone === wanted.gone
  )
}
