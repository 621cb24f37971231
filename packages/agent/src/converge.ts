// Brings the engine to what is wished, again and again: list, plan, act. Passes come one after another; what a pass starts
// goes on beside the next ones. An assignment that was being worked on when a list was asked for is left out of that list's
// plan, since the list may be older than the work. SAFETY 4e.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import { type OwnContainer, planNode, readOwnLabels } from '@holdfast/core/reconcile'
import type { Logger } from 'pino'
import { createLoop } from './loop.ts'
import { createOrphanWatch } from './orphan-watch.ts'
import type { Engine, ListedContainer } from './ports/engine.ts'
import type { DesiredChange, Session } from './ports/session.ts'
import type { ReplicaBoard } from './replica-board.ts'
import type { Requisites } from './requisites.ts'
import type { Addresses } from './routing/addresses.ts'
import type { Drain } from './routing/drain.ts'
import { createSetbacks } from './setbacks.ts'
import { createWorkers } from './workers.ts'

export interface ConvergeDeps extends Pick<Session, 'containerEnvironment'> {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly board: ReplicaBoard
  readonly requisites: Requisites
  readonly addresses: Addresses
  readonly drain: Drain
  readonly observer: {
    takeList(own: readonly OwnContainer[], settled: readonly AssignmentId[]): void
    confirm(id: AssignmentId, containerId: string): void
  }
  /** False where the control plane runs here and the assignment is a new one (node-role.ts). */
  mayMake(id: AssignmentId): boolean
  /** Names of containers that nobody wishes and that are too many to be removed; none: it is over. */
  onOrphansLeft(names: readonly string[]): void
  readonly concurrency: number
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number
  /** Between 0 and 1. */
  random(): number
  readonly log: Logger
}

export interface Converger {
  /** `kept`: from this node's disk, with no server behind it; then nothing new is made (SAFETY 4h). */
  setDesired(change: DesiredChange, source: 'server' | 'kept'): void
  desired(): ReadonlyMap<AssignmentId, DesiredItem>
  condemn(containerId: string): void
  nudge(): void
  /** Ends when nothing is under way any more; containers are left as they are. */
  close(): Promise<void>
}

export function startConverging(deps: ConvergeDeps): Converger {
  const { engine, tenant, board, observer, log } = deps
  const desired = new Map<AssignmentId, DesiredItem>()
  const tried = new Map<AssignmentId, string>()
  const condemned = new Set<string>()
  /** Of which the server itself has spoken; of those that are only kept on disk none is made (SAFETY 4h). */
  const told = new Set<AssignmentId>()
  const orphans = createOrphanWatch(log, deps.onOrphansLeft)
  let hasSet = false

  const loop = createLoop(pass, deps.random, (error) =>
    log.warn({ message: String(error) }, 'the engine gave no list'),
  )
  const condemn = (containerId: string): void => {
    condemned.add(containerId)
    loop.nudge()
  }
  const setbacks = createSetbacks(desired, deps.monotonicMs, deps.random)
  const { confirm } = observer
  const onMore = (ms: number): void => (ms === 0 ? loop.nudge() : loop.wakeIn(ms))
  const workers = createWorkers({ ...deps, desired, setbacks, tried, condemn, confirm, onMore })

  async function pass(): Promise<void> {
    if (!hasSet) return
    const workedOn = workers.workedOn()
    const listed = await engine.listContainers()
    const own = listed.flatMap((container) => readOwn(container, tenant))
    observer.takeList(
      own,
      [...desired.keys()].filter((id) => !workedOn.has(id)),
    )
    const actions = planNode([...desired.values()], own, {
      names: new Set(listed.map(({ name }) => name)),
      tried,
      skip: new Set([...workedOn, ...setbacks.waiting()]),
      mayCreate: (id) => told.has(id),
      condemned,
      orphans: orphans.find(own, new Set(desired.keys())),
    })
    for (const action of actions) workers.run(action)
  }

  return {
    setDesired(change, from) {
      takeChange(desired, change)
      if (from === 'server') for (const { assignmentId } of change.items) told.add(assignmentId)
      for (const id of told) if (!desired.has(id)) told.delete(id)
      hasSet = true
      board.setItems(desired)
      const { revision, complete } = change
      if (from === 'server' && complete)
        orphans.takeComplete({
          revision,
          assignments: new Set(desired.keys()),
          receivedMs: deps.monotonicMs(),
        })
      else orphans.noteRevision(revision)
      loop.nudge()
    },
    desired: () => desired,
    condemn,
    nudge: loop.nudge,
    async close() {
      loop.stop()
      await workers.close()
    },
  }
}

function takeChange(desired: Map<AssignmentId, DesiredItem>, change: DesiredChange): void {
  if (change.complete) desired.clear()
  for (const item of change.items) desired.set(item.assignmentId, item)
  for (const id of desired.keys()) if (change.gone.includes(id)) desired.delete(id)
}

function readOwn(container: ListedContainer, tenant: TenantId): OwnContainer[] {
  const labels = readOwnLabels(container.labels, tenant)
  if (labels === undefined) return []
  const { id, name, state, createdAt } = container
  return [{ id, name, state, createdAt, ...labels }]
}
