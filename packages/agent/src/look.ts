// One look at a container, put on the board. Looks at the same container that come together are one, or one more.

import type { AssignmentId, TenantId } from '@holdfast/contract'
import {
  findUnsafeSettings,
  type ReplicaView,
  type SeenContainer,
  tenantNetwork,
} from '@holdfast/core/reconcile'
import type { Logger } from 'pino'
import { type Engine, type InspectedContainer, isFault } from './ports/engine.ts'
import type { Readiness } from './readiness.ts'
import type { ReplicaBoard } from './replica-board.ts'

export interface LookDeps {
  readonly engine: Pick<Engine, 'inspectContainer'>
  readonly tenant: TenantId
  readonly board: ReplicaBoard
  readonly readiness: Readiness
  /** A container was found with settings outside the safe set. */
  onUnsafe(containerId: string): void
  readonly log: Logger
}

export interface Looker {
  look(id: AssignmentId, containerId: string): Promise<void>
  isLooking(containerId: string): boolean
  /** It was seen to be gone. */
  markAbsent(id: AssignmentId, containerId: string): void
}

export function createLooker(deps: LookDeps): Looker {
  const { engine, board } = deps
  const looking = new Map<string, { again: boolean }>()
  const markAbsent = (id: AssignmentId, containerId: string): void => {
    const container = board.view(id)?.container
    if (typeof container === 'object' && container.id === containerId)
      board.update(id, { container: 'absent' })
  }
  return {
    async look(id, containerId) {
      const turn = looking.get(containerId)
      if (turn !== undefined) {
        turn.again = true
        return
      }
      const mine = { again: false }
      looking.set(containerId, mine)
      try {
        do {
          mine.again = false
          takeOver(deps, id, await engine.inspectContainer(containerId))
        } while (mine.again)
      } catch (error) {
        if (isFault(error, 'not_found')) markAbsent(id, containerId)
      } finally {
        looking.delete(containerId)
      }
    },
    isLooking: (containerId) => looking.has(containerId),
    markAbsent,
  }
}

function takeOver(deps: LookDeps, id: AssignmentId, found: InspectedContainer): void {
  const { board, readiness, tenant, log } = deps
  const unsafe = findUnsafeSettings(found.settings, tenantNetwork(tenant))
  if (unsafe.length > 0) {
    log.error({ container: found.id, unsafe }, 'a container has settings outside the safe set')
    deps.onUnsafe(found.id)
    return
  }
  const view = board.view(id)
  if (view === undefined) return
  const container = keepCount(view.container, found)
  board.update(id, { container, ...(isAdopted(view, found) ? { unjudged: true } : {}) })
  readiness.follow(id, container)
}

/** It ran before this agent did: whether it is ready is found out before anything is said of it. */
const isAdopted = (view: ReplicaView, found: InspectedContainer): boolean =>
  view.container === 'unknown' && view.activity === undefined && found.state === 'running'

/** The engine counts its own restarts and begins anew when we start the container; we go on counting. */
function keepCount(before: ReplicaView['container'], found: InspectedContainer): SeenContainer {
  const { id, state, startedAt, restarts, health, exitCode } = found
  const seen = { id, state, startedAt, restarts, health, exitCode }
  if (typeof before !== 'object' || before.id !== id) return seen
  const anew = before.startedAt !== null && startedAt !== before.startedAt && restarts <= before.restarts
  return {
    ...seen,
    restarts: anew ? before.restarts + 1 : Math.max(before.restarts, restarts),
    // A running container has no exit code of its own; the last one stays known.
    exitCode: exitCode ?? before.exitCode,
  }
}
