// What the engine says of our containers, put on the board: its events, each followed by a look at the container, and the
// lists of the converging loop for whatever an event missed. An engine that does not answer is silence, not a state.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId } from '@holdfast/contract'
import { ASSIGNMENT_LABEL, type OwnContainer, readOwnLabels } from '@holdfast/core/node'
import type { ContainerEvent, Engine } from '../ports/engine.ts'
import { createLooker, type LookDeps } from './look.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_RETRY_MS = 200
const LAST_RETRY_MS = 5000

export interface Observer {
  /** A list of the engine; `settled` are the assignments that nothing was done about since before it was asked for. */
  takeList(own: readonly OwnContainer[], settled: readonly AssignmentId[]): void
  /** We have started it: looks at it now, unless that is under way or it is known to run. */
  confirm(id: AssignmentId, containerId: string): void
  close(): void
}

export interface ObserveDeps extends LookDeps {
  readonly engine: Pick<Engine, 'inspectContainer' | 'watchContainers'>
  /** Something changed that the loop may have to mend; undefined: nobody knows of what. */
  onChange(id: AssignmentId | undefined): void
}

export function startObserving(deps: ObserveDeps): Observer {
  const { engine, board, tenant } = deps
  const ending = new AbortController()
  const { look, isLooking, markAbsent } = createLooker(deps)
  const starts = createStarts()

  const onEvent = ({ action, containerId, labels }: ContainerEvent): void => {
    const id = readOwnLabels(labels, tenant)?.assignmentId
    if (id === undefined) return
    if (action === 'start' && starts.isSeen(containerId)) return
    if (action === 'die' || action === 'destroy') starts.forget(containerId)
    if (action === 'destroy') {
      markAbsent(id, containerId)
      deps.onChange(id)
      return
    }
    const looked = look(id, containerId)
    // Only then: for a moment an engine still lists as running what it says has ended.
    if (action === 'die') void looked.then(() => deps.onChange(id))
  }
  async function watch(): Promise<void> {
    let delay = FIRST_RETRY_MS
    const onOpen = (): void => {
      delay = FIRST_RETRY_MS
      starts.forgetAll()
      // What happened before the stream was open is in the list.
      deps.onChange(undefined)
    }
    while (!ending.signal.aborted) {
      await engine.watchContainers(ASSIGNMENT_LABEL, onOpen, onEvent, ending.signal).catch(() => {})
      await pause(delay, undefined, { signal: ending.signal, ref: false }).catch(() => {})
      delay = Math.min(delay * 2, LAST_RETRY_MS)
    }
  }
  void watch()
  return {
    takeList(own, settled) {
      const held = Map.groupBy(own, ({ assignmentId }) => assignmentId)
      for (const id of settled) {
        const [container] = held.get(id) ?? []
        if (container === undefined) board.update(id, { container: 'absent', creating: false })
        else if (isOtherThanSeen(board, container)) void look(id, container.id)
      }
    },
    confirm(id, containerId) {
      const runs = () => isSeenRunning(board, id, containerId)
      const isTold = starts.wasTold(containerId)
      if (runs() || isLooking(containerId)) return
      if (!isTold) starts.planAhead(containerId)
      void look(id, containerId).then(() => {
        // A start that failed is told by no event: then the next one is another's. One that was told meanwhile counts anew.
        if (!isTold && !runs() && !starts.giveUp(containerId)) void look(id, containerId)
      })
    },
    close: () => ending.abort(),
  }
}

/**
 * A start of ours is told twice, by the end of our call and by the stream, in either order; one look does for both. A start
 * that follows the end of a container is another one, and so is every start behind a gap in the stream.
 */
function createStarts() {
  const foreseen = new Set<string>()
  const told = new Set<string>()
  return {
    /** At the event: has the call, which ended before it, led to a look already? */
    isSeen(containerId: string): boolean {
      const seen = foreseen.delete(containerId)
      if (!seen) told.add(containerId)
      return seen
    },
    /** At the end of the call: did the event come before it? */
    wasTold: (containerId: string): boolean => told.delete(containerId),
    planAhead: (containerId: string) => foreseen.add(containerId),
    /** False where the event came since. */
    giveUp: (containerId: string): boolean => foreseen.delete(containerId),
    forget(containerId: string): void {
      for (const kept of [foreseen, told]) kept.delete(containerId)
    },
    forgetAll(): void {
      for (const kept of [foreseen, told]) kept.clear()
    },
  }
}

function isSeenRunning(board: ReplicaStatusTable, id: AssignmentId, containerId: string): boolean {
  const seen = board.view(id)?.container
  return typeof seen === 'object' && seen.id === containerId && seen.state === 'running'
}

function isOtherThanSeen(board: ReplicaStatusTable, { assignmentId, id, state }: OwnContainer): boolean {
  const seen = board.view(assignmentId)?.container
  return typeof seen !== 'object' || seen.id !== id || seen.state !== state
}
