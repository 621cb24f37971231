// When is a container that runs also ready? At its first passing check, which the agent runs itself, soon and then more and
// more seldom, until the engine's own check counts; without a check after five seconds of running. DECISIONS 4.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId, HealthCheck } from '@holdfast/contract'
import {
  DEFAULT_RETRIES,
  probeCommand,
  probeIntervalMs,
  probeTimeoutMs,
  type SeenContainer,
} from '@holdfast/core/node'
import { createLimit } from '../converge/limit.ts'
import type { Engine } from '../ports/engine.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_DELAY_MS = 200
const RUNNING_IS_READY_MS = 5000
/** Checks cost processor time: a node that starts many containers runs only so many checks at once (SAFETY 2 row 32). */
const PROBES_AT_ONCE = 4

export interface Readiness {
  /** To be called whenever a container was seen; what is followed already is not followed twice. */
  follow(id: AssignmentId, container: SeenContainer): void
  close(): void
}

export interface ReadinessDeps {
  readonly engine: Pick<Engine, 'runProbe'>
  readonly board: ReplicaStatusTable
  /** Milliseconds since 1970. */
  now(): number
}

export function createReadiness({ engine, board, now }: ReadinessDeps): Readiness {
  const followed = new Map<AssignmentId, string>()
  const ending = new AbortController()
  const limit = createLimit(PROBES_AT_ONCE)

  const stillRuns = (id: AssignmentId, startedAt: string): boolean => {
    const container = board.view(id)?.container
    return (
      !ending.signal.aborted &&
      typeof container === 'object' &&
      container.state === 'running' &&
      container.startedAt === startedAt
    )
  }
  const judge = (id: AssignmentId, startedAt: string, ready: boolean): void => {
    if (!stillRuns(id, startedAt)) return
    board.update(id, { unverified: false, ...(ready ? { readySince: startedAt, trouble: '' } : {}) })
  }
  const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal: ending.signal, ref: false })

  async function probe(
    id: AssignmentId,
    containerId: string,
    startedAt: string,
    check: HealthCheck,
  ): Promise<void> {
    // One that was found running has had its time already.
    let delay = board.view(id)?.unverified === true ? 0 : FIRST_DELAY_MS
    let failures = 0
    for (;;) {
      await wait(delay)
      if (!stillRuns(id, startedAt) || board.view(id)?.readySince === startedAt) return
      const exit = await limit(() =>
        engine.runProbe(containerId, probeCommand(check), probeTimeoutMs(check)),
      ).catch(() => 'unasked' as const)
      if (exit !== 'unasked' && exit !== 0) failures += 1
      // One that was found running is in use: as with the engine's own check, one failure does not take it away.
      if (exit === 0 || failures >= (check.retries ?? DEFAULT_RETRIES)) judge(id, startedAt, exit === 0)
      if (exit === 0) return
      delay = Math.min(Math.max(delay * 2, FIRST_DELAY_MS), probeIntervalMs(check))
    }
  }
  async function waitFiveSeconds(id: AssignmentId, startedAt: string): Promise<void> {
    const runFor = now() - Date.parse(startedAt)
    await wait(Math.min(Math.max(RUNNING_IS_READY_MS - runFor, 0), RUNNING_IS_READY_MS))
    judge(id, startedAt, true)
  }
  return {
    follow(id, { id: containerId, state, startedAt, health }) {
      const view = board.view(id)
      if (view === undefined || state !== 'running' || startedAt === null) return
      if (view.readySince === startedAt) return
      if (health === 'healthy') return judge(id, startedAt, true)
      if (followed.get(id) === startedAt) return
      followed.set(id, startedAt)
      const check = view.item.template.healthCheck
      const work =
        check === undefined ? waitFiveSeconds(id, startedAt) : probe(id, containerId, startedAt, check)
      work
        .catch(() => {})
        .finally(() => {
          if (followed.get(id) === startedAt) followed.delete(id)
        })
    },
    close: () => ending.abort(),
  }
}
