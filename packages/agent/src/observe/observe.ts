// Keeps the status table current: each engine event triggers an inspection of its container, and the lists of the
// convergence loop fill in what events missed. An engine that does not answer changes no state.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId } from '@holdfast/contract'
import { ASSIGNMENT_LABEL, type OwnContainer, readOwnLabels } from '@holdfast/core/node'
import type { ContainerEvent, Engine } from '../ports/engine.ts'
import { createInspector, type InspectDeps } from './inspect.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_RETRY_MS = 200
const LAST_RETRY_MS = 5000

export interface ObserverHandlers {
  /** The convergence loop may have to repair this assignment; undefined: an unknown one. */
  onChange(id: AssignmentId | undefined): void
  /** A container has unsafe settings and must be removed. */
  onUnsafe(containerId: string): void
}

export interface Observer {
  /** Begins to watch the engine's events. */
  start(handlers: ObserverHandlers): void
  /** `settled`: the assignments that had no action in progress when the list was requested. */
  applyList(own: readonly OwnContainer[], settled: readonly AssignmentId[]): void
  /** The agent started the container: inspects it now, unless an inspection is in progress or it is known to run. */
  confirm(id: AssignmentId, containerId: string): void
  close(): void
}

export interface ObserveDeps extends Omit<InspectDeps, 'onUnsafe'> {
  readonly engine: Pick<Engine, 'inspectContainer' | 'watchContainers'>
}

export function createObserver(deps: ObserveDeps): Observer {
  const { engine, statuses, tenant, log } = deps
  const stopping = new AbortController()
  let handlers: ObserverHandlers = { onChange() {}, onUnsafe() {} }
  const onUnsafe = (containerId: string): void => handlers.onUnsafe(containerId)
  const { inspect, isInspecting, markAbsent } = createInspector({ ...deps, onUnsafe })
  const starts = createStartMatcher()

  const onEvent = ({ action, containerId, labels }: ContainerEvent): void => {
    const id = readOwnLabels(labels, tenant)?.assignmentId
    if (id === undefined) return
    if (action === 'start' && starts.matchesCall(containerId)) return
    if (action === 'die' || action === 'destroy') starts.forget(containerId)
    if (action === 'destroy') {
      markAbsent(id, containerId)
      handlers.onChange(id)
      return
    }
    const inspected = inspect(id, containerId)
    // Docker may list a container as running for a moment after its end, so the inspection comes first.
    if (action === 'die') void inspected.then(() => handlers.onChange(id))
  }
  async function watch(): Promise<void> {
    let delay = FIRST_RETRY_MS
    const onOpen = (): void => {
      delay = FIRST_RETRY_MS
      starts.forgetAll()
      // Events from before the stream opened are lost, so the loop lists everything.
      handlers.onChange(undefined)
    }
    const { signal } = stopping
    while (!signal.aborted) {
      await engine.watchContainers(ASSIGNMENT_LABEL, onOpen, onEvent, signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn({ message: String(error) }, 'engine event stream broke, reopening')
      })
      // The pause rejects only when the observer closes, which ends the loop.
      await pause(delay, undefined, { signal, ref: false }).catch(() => {})
      delay = Math.min(delay * 2, LAST_RETRY_MS)
    }
  }
  return {
    start(given) {
      handlers = given
      void watch()
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
        // A failed start has no event, so a later start event belongs to another start. If the event already arrived and
        // was taken for this call's, the container is inspected again.
        if (!hadEvent && !runs() && !starts.cancelExpected(containerId)) void inspect(id, containerId)
      })
    },
    close: () => stopping.abort(),
  }
}

/**
 * Every start by the agent is seen twice, as the end of its call and as an event, in either order. This pairs the two, so
 * that one inspection serves both. After a container's end, or a gap in the event stream, pairs are forgotten.
 */
function createStartMatcher() {
  const expected = new Set<string>()
  const unmatched = new Set<string>()
  return {
    /** At an event: whether the call ended before it and already caused an inspection. */
    matchesCall(containerId: string): boolean {
      const matches = expected.delete(containerId)
      if (!matches) unmatched.add(containerId)
      return matches
    },
    /** At the end of a call: whether the event came before it. */
    hadEvent: (containerId: string): boolean => unmatched.delete(containerId),
    expectEvent: (containerId: string) => expected.add(containerId),
    /** False if the event arrived since. */
    cancelExpected: (containerId: string): boolean => expected.delete(containerId),
    forget(containerId: string): void {
      for (const ids of [expected, unmatched]) ids.delete(containerId)
    },
    forgetAll(): void {
      for (const ids of [expected, unmatched]) ids.clear()
    },
  }
}

function isSeenRunning(statuses: ReplicaStatusTable, id: AssignmentId, containerId: string): boolean {
  const seen = statuses.view(id)?.container
  return typeof seen === 'object' && seen.id === containerId && seen.state === 'running'
}

function differsFromSeen(statuses: ReplicaStatusTable, { assignmentId, id, state }: OwnContainer): boolean {
  const seen = statuses.view(assignmentId)?.container
  return typeof seen !== 'object' || seen.id !== id || seen.state !== state
}
