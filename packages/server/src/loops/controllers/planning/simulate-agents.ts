// The agents of a dry run: on a ready node, every desired container becomes ready and every other one is removed.

import type { Assignment, AssignmentId, Owner, TenantId } from '@holdfast/contract'
import { isReady } from '@holdfast/core'
import { isRunning } from '@holdfast/core/placement'
import {
  containerProof,
  containerVersions,
  knownProofKey,
} from '../../../operations/secrets/rotation/proof.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import {
  credentials,
  nodes,
  observations,
  type StoredObservation,
  type StoredPlacement,
} from '../../../store/records.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'

interface Agents {
  readonly store: OverlayStore
  readonly tenant: TenantId
  /** The time in all records that the agents write. */
  readonly now: string
  /** Nominal milliseconds since the change. */
  elapsedMs: number
  /** The containers that are being started or stopped, with the time at which that is done. */
  readonly busy: Map<AssignmentId, Task>
}

interface Task {
  readonly assignment: Assignment
  readonly owner: Owner
  readonly doneAt: number
}

/**
 * Nominal durations. They decide only in which order containers of several deployments become ready or free room for
 * each other; nothing waits for them.
 */
const STOP_MS = 100
const START_MS = 5_000
const CHECKED_START_MS = 400

export interface SimulatedAgents {
  /**
   * Finishes the next starts or stops of containers on one node. Agents report one after another, so that the controller
   * decides after each report. False if no agent has anything to do.
   */
  step(owners: Iterable<Owner>): boolean
}

export function createSimulatedAgents(store: OverlayStore, tenant: TenantId, now: string): SimulatedAgents {
  const agents: Agents = { store, tenant, now, elapsedMs: 0, busy: new Map() }
  return {
    step(owners) {
      for (const owner of owners) begin(agents, owner)
      const report = nextReport([...agents.busy.values()])
      for (const { assignment, doneAt } of report) {
        agents.elapsedMs = doneAt
        agents.busy.delete(assignment.id)
      }
      store.batch(() => {
        for (const task of report) finish(agents, task)
      })
      return report.length > 0
    },
  }
}

/** The next report: everything that one node finishes at the same time. Of several nodes, the one with the least work. */
function nextReport(tasks: readonly Task[]): readonly Task[] {
  const doneAt = Math.min(...tasks.map((task) => task.doneAt))
  const next = tasks.filter((task) => task.doneAt === doneAt)
  const [first = [], ...others] = Map.groupBy(next, ({ assignment }) => assignment.nodeId).values()
  return others.reduce((least, each) => (each.length < least.length ? each : least), first)
}

/** Begins to start or stop each container of a deployment that does not match its desired state, on ready nodes. */
function begin({ store, tenant, elapsedMs, busy }: Agents, owner: Owner): void {
  const placement = store.get(placementAt(tenant, owner))?.record
  for (const assignment of placement?.assignments ?? []) {
    const { id, nodeId, templateHash } = assignment
    const isBusy = busy.get(id)?.assignment.desired === assignment.desired
    if (isBusy || isDone({ store, tenant }, assignment)) continue
    if (store.get(inTenant(tenant, nodes, nodeId))?.record.status !== 'ready') continue
    const hasCheck = placement?.templates[templateHash]?.healthCheck !== undefined
    const durationMs = !isRunning(assignment) ? STOP_MS : hasCheck ? CHECKED_START_MS : START_MS
    busy.delete(id)
    busy.set(id, { assignment, owner, doneAt: elapsedMs + durationMs })
  }
}

function isDone({ store, tenant }: Pick<Agents, 'store' | 'tenant'>, assignment: Assignment): boolean {
  const known = store.get(inTenant(tenant, observations, assignment.id))?.record
  return isRunning(assignment) ? known?.gone === false && isReady(known) : known?.gone === true
}

function finish({ store, tenant, now }: Agents, { assignment, owner }: Task): void {
  const placement = store.get(placementAt(tenant, owner))?.record
  const current = placement?.assignments.find(({ id }) => id === assignment.id)
  if (placement !== undefined && current !== undefined) act({ store, tenant, now }, placement, current)
}

function act(
  { store, tenant, now }: Pick<Agents, 'store' | 'tenant' | 'now'>,
  placement: StoredPlacement,
  assignment: Assignment,
): void {
  const { id, nodeId } = assignment
  const gone = !isRunning(assignment)
  const proof = gone ? undefined : proofOf({ store, tenant }, placement, assignment)
  const seen: StoredObservation = {
    v: 1,
    assignmentId: id,
    owner: placement.owner,
    nodeId,
    at: now,
    generation: 1,
    seq: 1,
    state: gone ? 'stopped' : 'ready',
    containerId: null,
    startedAt: now,
    exitCode: null,
    restarts: 0,
    reason: '',
    gone,
    ...(proof === undefined ? {} : { proof }),
  }
  store.put(inTenant(tenant, observations, id), seen)
}

/** The proof that the container was created with the secret versions of its template. */
function proofOf(
  { store, tenant }: Pick<Agents, 'store' | 'tenant'>,
  { templates }: StoredPlacement,
  { id, templateHash }: Assignment,
): string | undefined {
  const { secrets = [] } = templates[templateHash] ?? {}
  const key = secrets.length === 0 ? undefined : knownProofKey(store)
  const initial = (label: string) => store.get(inTenant(tenant, credentials, label))?.record.initial
  const versions = containerVersions(secrets, initial)
  return key === undefined || versions === undefined ? undefined : containerProof(key, id, versions)
}
