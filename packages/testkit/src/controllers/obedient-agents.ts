// Simulated agents that follow the placement records, without sessions and engines. For each change of a placement they
// write the report that a real agent would send; the test decides the state of each replica. They also check the
// guarantee of a rollout: a replica number that has had a serving replica always has one.

import {
  type Assignment,
  type ContainerTemplate,
  type DeploymentUid,
  type Owner,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import {
  nodes,
  observations,
  type StoredObservation,
  type StoredPlacement,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'

/** Report of an agent about a replica. Undefined means no report, as from an unreachable node. */
export type Report = Partial<StoredObservation> | undefined
export type Behaviour = (template: ContainerTemplate, assignment: Assignment) => Report

export interface ObedientAgents {
  /** Lowest number of replicas that served at the same time since the last call. Equal replica numbers count once. */
  fewestServed(): number
  /** Makes the simulated agents process all placements again, after the test has changed the state of replicas. */
  reconcile(): void
  /** After this call the simulated agents act only when `act` is called. */
  hold(): void
  /** Makes the simulated agents act once on the current placement records. */
  act(): Promise<void>
  /** Number of reports that the simulated agents have written. */
  readonly reports: number
  stop(): Promise<void>
}

export function startObedientAgents(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
  behave: Behaviour,
): ObedientAgents {
  const owner = ownerOf('deployment', uid)
  let fewest = Number.POSITIVE_INFINITY
  let reports = 0
  let stopped = false
  let held = false
  let work: Promise<void> = Promise.resolve()
  const placement = () => store.get(placementAt(tenant, owner))?.record
  const act = (): Promise<void> => {
    work = work.then(async () => {
      if (!stopped) reports += await reportAll(store, tenant, owner, behave)
    })
    return work
  }
  const reconcile = (): void => {
    if (!held) void act()
  }
  const unwatch = store.subscribe((changes) => {
    const own = changes.filter(({ key }) => key.tenant === tenant)
    if (own.some(({ key }) => key.folder === observations.folder || key.id === owner))
      fewest = Math.min(fewest, servedOf(store, tenant, placement()))
    if (own.some(({ key }) => key.id === owner || key.folder === nodes.folder)) reconcile()
  })
  reconcile()
  return {
    fewestServed() {
      const seen = Math.min(fewest, servedOf(store, tenant, placement()))
      fewest = Number.POSITIVE_INFINITY
      return seen
    },
    reconcile,
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

/** Writes reports only for assignments that the placement still contains, as the gateway does. */
async function reportAll(store: Store, tenant: TenantId, owner: Owner, behave: Behaviour): Promise<number> {
  return store.transact((transaction) => {
    const placement = transaction.get(placementAt(tenant, owner))
    let count = 0
    for (const assignment of placement?.assignments ?? []) {
      const template = placement?.templates[assignment.templateHash]
      const node = store.get(inTenant(tenant, nodes, assignment.nodeId))?.record
      if (template === undefined || node === undefined || node.status === 'failed') continue
      const report = assignment.desired === 'removed' ? GONE : behave(template, assignment)
      const before = transaction.get(inTenant(tenant, observations, assignment.id))
      if (report === undefined || isReported(before, report)) continue
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
        owner,
        nodeId: assignment.nodeId,
        at: '',
        ...report,
      })
    }
    return count === 0 ? { kind: 'abort', result: 0 } : { kind: 'commit', result: count }
  })
}

function isReported(before: StoredObservation | undefined, report: NonNullable<Report>): boolean {
  const wanted = { state: 'ready' as const, reason: '', restarts: 0, gone: false, ...report }
  return (
    before?.state === wanted.state &&
    before.reason === wanted.reason &&
    before.restarts === wanted.restarts &&
    before.gone === wanted.gone
  )
}
