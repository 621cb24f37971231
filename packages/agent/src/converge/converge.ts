// Brings the engine to what is wished, again and again: list, plan, act. Passes come one after another; what a pass starts
// goes on beside the next ones. An assignment that was being worked on when a list was asked for is left out of that list's
// plan, since the list may be older than the work. SAFETY 4e. A change to a few assignments lists the containers of those
// alone: a list of all takes the engine as long as a create.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import { type OwnContainer, planNode } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { ReplicaStatusTable } from '../observe/replica-status-table.ts'
import type { Engine } from '../ports/engine.ts'
import type { DesiredChange, Session } from '../ports/session.ts'
import type { Addresses } from '../routing/addresses.ts'
import type { Drain } from '../routing/drain.ts'
import { createDesiredSet } from './desired-set.ts'
import { createLoop, type Scope } from './loop.ts'
import { createOrphanWatch, type OrphanWatch } from './orphan-watch.ts'
import { createOwnContainers } from './own-containers.ts'
import type { Requisites } from './requisites.ts'
import { createRetryBackoff } from './retry-backoff.ts'
import { createWorkers } from './workers.ts'

export interface ConvergeDeps extends Pick<Session, 'containerEnvironment'> {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly board: ReplicaStatusTable
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
  /** Something changed on the engine; undefined: nobody knows of what. */
  nudge(id: AssignmentId | undefined): void
  /** Ends when nothing is under way any more; containers are left as they are. */
  close(): Promise<void>
}

export function startConverging(deps: ConvergeDeps): Converger {
  const { engine, tenant, board, observer, log } = deps
  const wishes = createDesiredSet()
  const { desired } = wishes
  const { names, ...containers } = createOwnContainers(engine, tenant)
  const tried = new Map<AssignmentId, string>()
  const unsafe = new Set<string>()
  const orphans = createOrphanWatch(log, deps.onOrphansLeft)

  const loop = createLoop<AssignmentId>(pass, deps.random, (error) =>
    log.warn({ message: String(error) }, 'the engine gave no list'),
  )
  const condemn = (containerId: string): void => {
    unsafe.add(containerId)
    loop.nudge()
  }
  const setbacks = createRetryBackoff(desired, deps.monotonicMs, deps.random)
  const nudgeFor = (ids: readonly AssignmentId[]): void =>
    containers.isKnown() ? loop.nudgeFor(ids) : loop.nudge()
  const onMore = (id: AssignmentId): void => (desired.has(id) ? nudgeFor([id]) : loop.nudge())
  const acting = { tried, names, condemn, confirm: observer.confirm, onMore, onLater: loop.wakeIn }
  const workers = createWorkers({ ...deps, ...acting, desired, setbacks })

  const nudge = (id: AssignmentId | undefined): void => {
    if (id !== undefined && workers.noteChange(id)) return
    const wish = id === undefined ? undefined : desired.get(id)?.desired
    // Of what is gone and was not removed by us the name is free again, which a list of all says.
    const isLost = id !== undefined && wish !== 'removed' && board.view(id)?.container === 'absent'
    if (id === undefined || wish === undefined || isLost) loop.nudge()
    else nudgeFor([id])
  }
  async function pass(scope: Scope<AssignmentId>): Promise<void> {
    if (!wishes.areKnown()) return
    const workedOn = workers.workedOn()
    // What is worked on is planned again when that has ended.
    const listed = scope === 'all' ? scope : new Set([...scope].filter((id) => !workers.noteChange(id)))
    const own = await containers.list(listed)
    const items = [...desired.values()].filter((item) => listed === 'all' || listed.has(item.assignmentId))
    observer.takeList(own, settledIds(items, workedOn))
    const actions = planNode(items, own, {
      names: names.all(),
      tried,
      skip: new Set([...workedOn, ...setbacks.waiting()]),
      mayCreate: wishes.wasTold,
      unsafe,
      orphans: listed === 'all' ? orphans.find(own, new Set(desired.keys())) : [],
    })
    for (const action of actions) workers.run(action)
    // Those that this pass left out have no other time of their own.
    if (scope === 'all') loop.wakeIn(setbacks.soonestMs())
  }
  return {
    setDesired(change, from) {
      wishes.take(change, from)
      board.setItems(desired)
      takeRevision(orphans, change, from, { desired, nowMs: deps.monotonicMs() })
      if (change.complete) loop.nudge()
      else nudgeFor(change.items.map(({ assignmentId }) => assignmentId))
    },
    desired: () => desired,
    condemn,
    nudge,
    async close() {
      loop.stop()
      await workers.close()
    },
  }
}

const settledIds = (items: readonly DesiredItem[], workedOn: ReadonlySet<AssignmentId>): AssignmentId[] =>
  items.map(({ assignmentId }) => assignmentId).filter((id) => !workedOn.has(id))

/** Only a complete set of the server says what nobody wishes. */
function takeRevision(
  orphans: OrphanWatch,
  { revision, complete }: DesiredChange,
  from: 'server' | 'kept',
  { desired, nowMs }: { readonly desired: ReadonlyMap<AssignmentId, DesiredItem>; readonly nowMs: number },
): void {
  const assignments = new Set(desired.keys())
  if (from === 'server' && complete) orphans.takeComplete(revision, { assignments, receivedMs: nowMs })
  else orphans.noteRevision(revision)
}
