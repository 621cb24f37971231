// The agents of a dry run: on a ready node, every desired container becomes ready and every other one is removed.

import type { Assignment, AssignmentId, Owner, TenantId } from '@holdfast/contract'
import { hasSilentEngine, isReady } from '@holdfast/core'
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
  /** The placements as the agents last saw them: only a changed placement can cause new work. */
  readonly seen: Map<Owner, StoredPlacement>
  /** The containers that are being started or stopped, with the time at which that is done. */
  readonly busy: Map<AssignmentId, Task>
}

interface Task {
  readonly assignment: Assignment
  readonly owner: Owner
  /** True for the report that the container is stopping, false for the report that the work is done. */
  readonly isStopping: boolean
  readonly doneAt: number
}

/**
 * Nominal durations. They decide only in which order containers of several deployments become ready or free room for
 * each other; nothing waits for them.
 */
const REPORT_MS = 2
const STOP_MS = 100
const START_MS = 5_000
const CHECKED_START_MS = 400

export interface SimulatedAgents {
  /**
   * Makes the next report of an agent about a container of the given owners. Agents report one container after another,
   * so that the controller decides after each report. False if no agent has anything to do.
   */
  step(owners: Iterable<Owner>): boolean
}

export function createSimulatedAgents(store: OverlayStore, tenant: TenantId, now: string): SimulatedAgents {
  const agents: Agents = { store, tenant, now, elapsedMs: 0, seen: new Map(), busy: new Map() }
  return {
    step(owners) {
      for (const owner of owners) begin(agents, owner)
      let next: Task | undefined
      for (const task of agents.busy.values())
        if (next === undefined || task.doneAt < next.doneAt) next = task
      if (next === undefined) return false
      agents.elapsedMs = next.doneAt
      agents.busy.delete(next.assignment.id)
      finish(agents, next)
      return true
    },
  }
}

/** Begins to start or stop each container that does not match its desired state, on ready nodes. */
function begin({ store, tenant, elapsedMs, seen, busy }: Agents, owner: Owner): void {
  const placement = store.get(placementAt(tenant, owner))?.record
  if (placement === undefined || seen.get(owner) === placement) return
  seen.set(owner, placement)
  for (const assignment of placement.assignments) {
    const { id, nodeId, templateHash } = assignment
    const isBusy = busy.get(id)?.assignment.desired === assignment.desired
    if (isBusy || isDone({ store, tenant }, assignment)) continue
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record
    if (node?.status !== 'ready' || hasSilentEngine(node)) continue
    const isStopping = !isRunning(assignment)
    const hasCheck = placement.templates[templateHash]?.healthCheck !== undefined
    const durationMs = isStopping ? REPORT_MS : hasCheck ? CHECKED_START_MS : START_MS
    busy.delete(id)
    busy.set(id, { assignment, owner, isStopping, doneAt: elapsedMs + durationMs })
  }
}

function isDone({ store, tenant }: Pick<Agents, 'store' | 'tenant'>, assignment: Assignment): boolean {
  const known = store.get(inTenant(tenant, observations, assignment.id))?.record
  return isRunning(assignment) ? known?.gone === false && isReady(known) : known?.gone === true
}

function finish(agents: Agents, task: Task): void {
  const { store, tenant, now, busy } = agents
  const { assignment, owner, isStopping, doneAt } = task
  const placement = store.get(placementAt(tenant, owner))?.record
  const current = placement?.assignments.find(({ id }) => id === assignment.id)
  if (placement === undefined || current === undefined) return
  if (!isStopping) {
    act(agents, placement, current)
    return
  }
  busy.set(assignment.id, { ...task, isStopping: false, doneAt: doneAt + STOP_MS })
  const address = inTenant(tenant, observations, assignment.id)
  const known = store.get(address)?.record
  if (known !== undefined) store.put(address, { ...known, at: now, state: 'stopping' })
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
