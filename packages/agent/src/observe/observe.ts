// Keeps the status table current: each engine event triggers an inspection of its container, and the full lists of the
// convergence loop correct what events missed. An engine that does not answer changes no status.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId } from '@holdfast/contract'
import { ASSIGNMENT_LABEL, type OwnContainer, readOwnLabels, type SeenContainer } from '@holdfast/core/node'
import type { ContainerEvent, Engine } from '../ports/engine.ts'
import type { OomKills } from '../ports/oom-kills.ts'
import { createInspector, type InspectDeps } from './inspect.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_RETRY_MS = 200
const LAST_RETRY_MS = 5000

export interface ObserverHandlers {
  /** Called if the convergence loop may have to repair this assignment; undefined: an unknown assignment. */
  onChange(id: AssignmentId | undefined): void
  /** Called for a container with unsafe settings, which must be removed. */
  onUnsafe(containerId: string): void
  /** Called after a run ended and the container was inspected. `before`: the container as it was seen before. */
  onExit(id: AssignmentId, containerId: string, before: SeenContainer | undefined): void
}

export interface Observer {
  /** Begins to watch the engine's events. */
  start(handlers: ObserverHandlers): void
  /** Applies a list of containers. `settled`: assignments that had no action in progress when the list was requested. */
  applyList(own: readonly OwnContainer[], settled: readonly AssignmentId[]): void
  /** Called after the agent started a container. Inspects the container, unless it is being inspected or known to run. */
  confirm(id: AssignmentId, containerId: string): void
  close(): void
}

export interface ObserveDeps extends Omit<InspectDeps, 'onUnsafe'> {
  readonly engine: InspectDeps['engine'] & Pick<Engine, 'watchContainers'>
  readonly oomKills: OomKills | undefined
}

export function createObserver(deps: ObserveDeps): Observer {
  const { statuses, tenant } = deps
  const stopping = new AbortController()
  let handlers: ObserverHandlers = { onChange() {}, onUnsafe() {}, onExit() {} }
  const onUnsafe = (containerId: string): void => handlers.onUnsafe(containerId)
  const { inspect, isInspecting, markAbsent, exits } = createInspector({ ...deps, onUnsafe })
  const starts = createStartMatcher()

  const onEvent = ({ action, containerId, labels, exitCode }: ContainerEvent): void => {
    const id = readOwnLabels(labels, tenant)?.assignmentId
    if (id === undefined) return
    if (action === 'start') exits.noteStart(containerId)
    if (action === 'start' && starts.matchesCall(containerId)) return
    if (action === 'die' || action === 'destroy') starts.forget(containerId)
    // An OOM kill is announced many times, mostly before the exit, which is inspected anyway.
    if (action === 'oom' && !exits.noteOom(containerId)) return
    if (action === 'die' && exitCode !== null)
      exits.noteExit(containerId, exitCode, deps.oomKills?.take(containerId))
    if (action === 'destroy') {
      markAbsent(id, containerId)
      handlers.onChange(id)
      return
    }
    if (action === 'die') deps.readiness.forget(id)
    const before = seenContainer(statuses, id, containerId)
    const inspected = inspect(id, containerId)
    if (action !== 'die') return
    // The container is inspected first, because Docker may list it as running for a moment after its end.
    void inspected.then(() => {
      handlers.onChange(id)
      handlers.onExit(id, containerId, before)
    })
  }
  const onOpen = (): void => {
    starts.forgetAll()
    // Events from before the stream opened are lost, so the convergence loop lists all containers.
    handlers.onChange(undefined)
  }
  return {
    start(given) {
      handlers = given
      void watchUntilClosed(deps, { onOpen, onEvent }, stopping.signal)
    },
    applyList(own, settled) {
      const held = Map.groupBy(own, ({ assignmentId }) => assignmentId)
      for (const id of settled) {
        const [container] = held.get(id) ?? []
        if (container === undefined) statuses.update(id, { container: 'absent', creating: false })
        else if (differsFromSeen(statuses, container)) void inspect(id, container.id)
      }
    },
    confirm(id, containerId) {
      const runs = () => isSeenRunning(statuses, id, containerId)
      const hadEvent = starts.hadEvent(containerId)
      if (runs() || isInspecting(containerId)) return
      if (!hadEvent) starts.expectEvent(containerId)
      void inspect(id, containerId).then(() => {
        // A failed start causes no start event. If a start event was matched with this failed call, the event belongs to
        // another start, so the container is inspected again.
        if (!hadEvent && !runs() && !starts.cancelExpected(containerId)) void inspect(id, containerId)
      })
    },
    close: () => stopping.abort(),
  }
}

/** Watches the engine's events and reopens a broken stream, with growing delays, until the signal aborts. */
async function watchUntilClosed(
  { engine, log }: Pick<ObserveDeps, 'engine' | 'log'>,
  { onOpen, onEvent }: { onOpen(): void; onEvent(event: ContainerEvent): void },
  signal: AbortSignal,
): Promise<void> {
  let delay = FIRST_RETRY_MS
  const opened = (): void => {
    delay = FIRST_RETRY_MS
    onOpen()
  }
  while (!signal.aborted) {
    await engine.watchContainers(ASSIGNMENT_LABEL, opened, onEvent, signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ message: String(error) }, 'engine event stream broke, reopening')
    })
    // Only the close of the observer interrupts the pause before the next attempt; the loop then ends without an error.
    await pause(delay, undefined, { signal, ref: false }).catch(() => {})
    delay = Math.min(delay * 2, LAST_RETRY_MS)
  }
}

/**
 * Pairs the two signs of every start by the agent, the end of the start call and the start event, which arrive in either
 * order. One inspection serves both. Pairs are forgotten at the container's end and after a gap in the event stream.
 */
function createStartMatcher() {
  const expected = new Set<string>()
  const unmatched = new Set<string>()
  return {
    /**
     * Called at a start event: returns whether the start call ended before the event and already caused an inspection.
     */
    matchesCall(containerId: string): boolean {
      const matches = expected.delete(containerId)
      if (!matches) unmatched.add(containerId)
      return matches
    },
    /** Called at the end of a start call: returns whether the start event of that call has already arrived. */
    hadEvent: (containerId: string): boolean => unmatched.delete(containerId),
    expectEvent: (containerId: string) => expected.add(containerId),
    /** Stops waiting for a start event. Returns false if the event has already arrived. */
    cancelExpected: (containerId: string): boolean => expected.delete(containerId),
    forget(containerId: string): void {
      for (const ids of [expected, unmatched]) ids.delete(containerId)
    },
    forgetAll(): void {
      for (const ids of [expected, unmatched]) ids.clear()
    },
  }
}

function seenContainer(
  statuses: ReplicaStatusTable,
  id: AssignmentId,
  containerId: string,
): SeenContainer | undefined {
  const seen = statuses.view(id)?.container
  return typeof seen === 'object' && seen.id === containerId ? seen : undefined
}

const isSeenRunning = (statuses: ReplicaStatusTable, id: AssignmentId, containerId: string): boolean =>
  seenContainer(statuses, id, containerId)?.state === 'running'

function differsFromSeen(statuses: ReplicaStatusTable, { assignmentId, id, state }: OwnContainer): boolean {
  const seen = statuses.view(assignmentId)?.container
  return typeof seen !== 'object' || seen.id !== id || seen.state !== state
}
