// The convergence loop: list containers, plan, act, repeat. One pass of the loop runs at a time, but actions may outlast
// their pass. An assignment with an action in progress is not planned, because the list may be older than the
// action. If few assignments change, only their containers are listed: a full list takes Docker as long as a create.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import { type MountPlaces, type OwnContainer, planNode, writtenVolumes } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { NetworkKeeper } from '../networks/keep-networks.ts'
import type { FailedLogs } from '../observe/keep-failed-logs.ts'
import type { ReplicaStatusTable } from '../observe/replica-status-table.ts'
import type { Engine } from '../ports/engine.ts'
import type { HostVolumes } from '../ports/host-volumes.ts'
import type { StartGate } from '../ports/leases.ts'
import type { DesiredChange, Session } from '../ports/session.ts'
import type { MountableCopies } from '../ports/volume-copies.ts'
import type { Addresses } from '../routing/addresses.ts'
import type { Drain } from '../routing/drain.ts'
import type { StartNotes } from '../state/start-notes.ts'
import type { DesiredSet } from './desired-set.ts'
import { createLoop, type Scope } from './loop.ts'
import { createOrphanWatch } from './orphan-watch.ts'
import { createOwnContainers } from './own-containers.ts'
import type { Requisites } from './requisites.ts'
import { createRestartBackoff } from './restart-backoff.ts'
import { createRetryBackoff, type RetryBackoff } from './retry-backoff.ts'
import { createVolumeLeftovers } from './volume-leftovers.ts'
import { createVolumeMounts } from './volume-mounts.ts'
import { createWorkers } from './workers.ts'

export interface ConvergeDeps extends Pick<Session, 'containerEnvironment'> {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly desiredSet: DesiredSet
  readonly statuses: ReplicaStatusTable
  readonly requisites: Requisites
  readonly networks: Pick<NetworkKeeper, 'ensure' | 'forget'>
  readonly addresses: Addresses
  readonly drain: Drain
  readonly places: MountPlaces
  /** The copies of volumes on this node; undefined: it has none. */
  readonly copies: MountableCopies | undefined
  readonly host: HostVolumes | undefined
  readonly gate: StartGate
  readonly failedLogs: Pick<FailedLogs, 'beforeRemoval'>
  readonly startNotes: StartNotes
  readonly observer: {
    applyList(own: readonly OwnContainer[], settled: readonly AssignmentId[]): void
    confirm(id: AssignmentId, containerId: string): void
  }
  /**
   * Whether the node may create containers of the item. False on a control-plane node for deployments and jobs that are
   * newer there than the node's role (node-role.ts).
   */
  mayCreate(item: DesiredItem): boolean
  /** The capabilities of this agent. It creates no container that needs another one. */
  readonly capabilities: readonly string[]
  /**
   * Called with the names of the orphaned containers if there are too many to remove, and with an empty list once the
   * number of orphans is small enough again.
   */
  onOrphansLeft(names: readonly string[]): void
  readonly concurrency: number
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  /** Random number between 0 and 1. */
  random(): number
  readonly log: Logger
}

export interface Converger {
  /**
   * Applies desired items. Items from the source `disk` were saved before the agent started, so the agent creates no
   * container for such an item until a server confirms the item.
   */
  setDesired(change: DesiredChange, source: 'server' | 'disk'): void
  /** Marks a container as unsafe, so that the next pass of the convergence loop removes the container. */
  markUnsafe(containerId: string): void
  /**
   * Requests a pass of the convergence loop, because a container of this assignment changed on the engine. Undefined: the
   * assignment is unknown.
   */
  nudge(id: AssignmentId | undefined): void
  /** Stops the loop; resolves when no action is in progress. Containers are left as they are. */
  close(): Promise<void>
}

export function startConverging(deps: ConvergeDeps): Converger {
  const { engine, tenant, desiredSet, observer, log } = deps
  const { desired } = desiredSet
  const { names, ...containers } = createOwnContainers(engine, tenant)
  const pendingNames = new Map<AssignmentId, string>()
  const unsafe = new Set<string>()
  const orphans = createOrphanWatch(log, deps.onOrphansLeft)
  const { volumes, leftovers, restarts } = createVolumeParts(deps)

  const loop = createLoop<AssignmentId>(pass, deps.random, (error) =>
    log.warn({ message: String(error) }, 'container list failed'),
  )
  const markUnsafe = (containerId: string): void => {
    unsafe.add(containerId)
    loop.nudge()
  }
  const backoff = createRetryBackoff(desired, deps.monotonicMs, deps.random)
  const nudgeFor = (ids: readonly AssignmentId[]): void =>
    containers.isKnown() ? loop.nudgeFor(ids) : loop.nudge()
  const requeue = (id: AssignmentId): void => (desired.has(id) ? nudgeFor([id]) : loop.nudge())
  const planned = { desired, backoff, pendingNames, names, volumes }
  const callbacks = { markUnsafe, confirm: observer.confirm, requeue, requeueIn: loop.wakeIn }
  const workers = createWorkers({ ...deps, ...planned, ...callbacks })
  const nudge = (id: AssignmentId | undefined): void => {
    if (id !== undefined && workers.requeueWhenDone(id)) return
    const state = id === undefined ? undefined : desired.get(id)?.desired
    if (id === undefined || state === undefined || isLost(deps, id, state)) loop.nudge()
    else nudgeFor([id])
  }
  deps.copies?.onChange(() => nudgeFor(backoff.clearKind('volume')))
  retryWhenLeased(deps, backoff, nudgeFor)
  async function pass(scope: Scope<AssignmentId>): Promise<void> {
    if (!desiredSet.isKnown()) return
    const inProgress = workers.inProgress()
    const listed = scope === 'all' ? scope : new Set([...scope].filter((id) => !workers.requeueWhenDone(id)))
    const own = await containers.list(listed)
    const items = [...desired.values()].filter((item) => listed === 'all' || listed.has(item.assignmentId))
    observer.applyList(own, settledIds(items, inProgress))
    const actions = planNode(items, own, {
      names: names.all(),
      pendingNames,
      skip: new Set([...inProgress, ...backoff.waiting()]),
      mayCreate: desiredSet.isConfirmed,
      ...startedBefore(deps),
      unsafe,
      orphans: listed === 'all' ? orphans.find(own, new Set(desired.keys())) : [],
    })
    for (const action of restarts.due(actions, loop.wakeIn)) workers.run(action)
    // Requests a pass at the end of the earliest backoff, because assignments in backoff have no timers of their own.
    if (scope === 'all') loop.wakeIn(backoff.soonestMs())
    if (listed === 'all') loop.wakeIn(leftovers.remove(containers, desired.values()))
  }
  return {
    setDesired(change, source) {
      desiredSet.apply(change, source)
      applyItems(deps, change, source)
      // Only a complete desired set from the server proves that an assignment is gone.
      if (source === 'server' && change.complete)
        orphans.addComplete({ assignments: new Set(desired.keys()), receivedMs: deps.monotonicMs() })
      if (change.complete) loop.nudge()
      else nudgeFor(change.items.map(({ assignmentId }) => assignmentId))
    },
    markUnsafe,
    nudge,
    async close() {
      loop.stop()
      await workers.close()
    },
  }
}

/** If another program removed the container, its name is free again. Only a list of all containers shows free names. */
const isLost = ({ statuses }: ConvergeDeps, id: AssignmentId, state: DesiredItem['desired']): boolean =>
  state !== 'removed' && statuses.view(id)?.container === 'absent'

const startedBefore = ({ startNotes }: ConvergeDeps) => ({
  hasRun: startNotes.has,
  startedContainer: startNotes.containerOf,
})

/** Shows the items, and marks the jobs that were started before. A complete set proves which notes are not needed. */
function applyItems(
  { startNotes, statuses, desiredSet: { desired } }: ConvergeDeps,
  { revision, complete }: DesiredChange,
  source: 'server' | 'disk',
): void {
  statuses.setItems(desired)
  for (const id of desired.keys())
    if (startNotes.has(id) && statuses.view(id)?.hasRun !== true) statuses.update(id, { hasRun: true })
  startNotes.applySet(revision, source === 'server' && complete ? desired : undefined)
}

/** A writer that waits for a lease is retried when it may start, not only after its backoff. */
function retryWhenLeased(
  { gate, desiredSet: { desired } }: Pick<ConvergeDeps, 'gate' | 'desiredSet'>,
  backoff: RetryBackoff,
  nudgeFor: (ids: readonly AssignmentId[]) => void,
): void {
  gate.onChecked((mayStart) => {
    const isLeased = (id: AssignmentId): boolean => mayStart(writtenVolumes(desired.get(id)?.template ?? {}))
    const ids = backoff.clearKind('lease', isLeased)
    if (ids.length > 0) nudgeFor(ids)
  })
}

function createVolumeParts(deps: ConvergeDeps) {
  const volumes = createVolumeMounts(deps)
  const leftovers = createVolumeLeftovers({ ...deps, volumes })
  return { volumes, leftovers, restarts: createRestartBackoff(deps.statuses, deps.monotonicMs) }
}

const settledIds = (items: readonly DesiredItem[], inProgress: ReadonlySet<AssignmentId>): AssignmentId[] =>
  items.map(({ assignmentId }) => assignmentId).filter((id) => !inProgress.has(id))
