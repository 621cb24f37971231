// One look at a container, put on the board. Looks at the same container that come together are one, or one more.

import type { AssignmentId, TenantId } from '@holdfast/contract'
import {
  findUnsafeSettings,
  isDanger,
  type ReplicaView,
  type SeenContainer,
  tenantNetwork,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, type InspectedContainer, isFault } from '../ports/engine.ts'
import type { Readiness } from './readiness.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

export interface LookDeps {
  readonly engine: Pick<Engine, 'inspectContainer'>
  readonly tenant: TenantId
  readonly board: ReplicaStatusTable
  readonly readiness: Readiness
  /** A container was found with a setting for which it may not go on. */
  onUnsafe(containerId: string): void
  readonly log: Logger
}

/** A look under way, and whether another is wished after it. */
interface Turn {
  again: boolean
  done: Promise<void>
}

export interface Looker {
  /** Ends when the container was seen as it is; an engine that does not answer ends it too. */
  look(id: AssignmentId, containerId: string): Promise<void>
  isLooking(containerId: string): boolean
  /** It was seen to be gone. */
  markAbsent(id: AssignmentId, containerId: string): void
}

export function createLooker(deps: LookDeps): Looker {
  const { engine, board } = deps
  const looking = new Map<string, Turn>()
  const oddities = new Map<string, string>()
  const markAbsent = (id: AssignmentId, containerId: string): void => {
    oddities.delete(containerId)
    const container = board.view(id)?.container
    if (typeof container === 'object' && container.id === containerId)
      board.update(id, { container: 'absent' })
  }
  async function lookUntilQuiet(id: AssignmentId, containerId: string, turn: Turn): Promise<void> {
    try {
      do {
        turn.again = false
        takeOver(deps, oddities, id, await engine.inspectContainer(containerId))
      } while (turn.again)
    } catch (error) {
      if (isFault(error, 'not_found')) markAbsent(id, containerId)
    } finally {
      looking.delete(containerId)
    }
  }
  return {
    look(id, containerId) {
      const underWay = looking.get(containerId)
      if (underWay !== undefined) {
        underWay.again = true
        return underWay.done
      }
      const turn: Turn = { again: false, done: Promise.resolve() }
      looking.set(containerId, turn)
      turn.done = lookUntilQuiet(id, containerId, turn)
      return turn.done
    },
    isLooking: (containerId) => looking.has(containerId),
    markAbsent,
  }
}

function takeOver(
  deps: LookDeps,
  oddities: Map<string, string>,
  id: AssignmentId,
  found: InspectedContainer,
): void {
  const { board, readiness } = deps
  if (!isFit(deps, oddities, found)) {
    deps.onUnsafe(found.id)
    return
  }
  const view = board.view(id)
  if (view === undefined) return
  const container = keepCount(view.container, found)
  board.update(id, { container, creating: false, ...(isAdopted(view, found) ? { unverified: true } : {}) })
  readiness.follow(id, container)
}

/** What is odd and no danger is told once and left: whoever runs the machine may have wanted it. */
function isFit(
  { tenant, log }: LookDeps,
  oddities: Map<string, string>,
  { id, settings }: InspectedContainer,
): boolean {
  const unsafe = findUnsafeSettings(settings, tenantNetwork(tenant))
  const dangers = unsafe.filter(isDanger)
  if (dangers.length > 0) {
    log.error({ container: id, unsafe: dangers }, 'a container has settings outside the safe set')
    return false
  }
  const odd = unsafe.join()
  if (odd !== '' && odd !== oddities.get(id)) {
    oddities.set(id, odd)
    log.warn({ container: id, settings: unsafe }, 'a container has settings that we did not give it: left')
  }
  return true
}

/** It ran before this agent did: whether it is ready is found out before anything is said of it. */
const isAdopted = (view: ReplicaView, found: InspectedContainer): boolean =>
  view.container === 'unknown' && view.activity === undefined && found.state === 'running'

/** The engine counts its own restarts and begins anew when we start the container; we go on counting. */
function keepCount(before: ReplicaView['container'], found: InspectedContainer): SeenContainer {
  const { id, state, startedAt, restarts, health, exitCode, address, proof } = found
  const seen = { id, state, startedAt, restarts, health, exitCode, address, proof }
  if (typeof before !== 'object' || before.id !== id) return seen
  const anew = before.startedAt !== null && startedAt !== before.startedAt && restarts <= before.restarts
  return {
    ...seen,
    restarts: anew ? before.restarts + 1 : Math.max(before.restarts, restarts),
    // A running container has no exit code of its own; the last one stays known.
    exitCode: exitCode ?? before.exitCode,
  }
}
