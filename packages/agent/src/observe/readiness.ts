// Decides when a running container is ready: when its health check first passes, or five seconds after the start if it
// has none. The agent runs the check itself with growing delays: Docker's own first result may take a whole interval.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId, HealthCheck } from '@holdfast/contract'
import {
  DEFAULT_RETRIES,
  probeCommand,
  probeIntervalMs,
  probeTimeoutMs,
  type SeenContainer,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import { createLimit } from '../converge/limit.ts'
import type { Engine } from '../ports/engine.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_DELAY_MS = 200
const RUNNING_IS_READY_MS = 5000
/** Most probes that run at once, because probes cost CPU time on a node that starts many containers. */
const MAX_PROBES = 4

export interface Readiness {
  /** Begins to check a container's readiness. Call after each inspection; repeated calls for one start have no effect. */
  follow(id: AssignmentId, container: SeenContainer): void
  close(): void
}

export interface ReadinessDeps {
  readonly engine: Pick<Engine, 'runProbe'>
  readonly statuses: ReplicaStatusTable
  /** Current time in milliseconds since 1970. */
  now(): number
  readonly log: Logger
}

export function createReadiness({ engine, statuses, now, log }: ReadinessDeps): Readiness {
  const followed = new Map<AssignmentId, string>()
  const stopping = new AbortController()
  const limit = createLimit(MAX_PROBES)

  const stillRuns = (id: AssignmentId, startedAt: string): boolean => {
    const container = statuses.view(id)?.container
    return (
      !stopping.signal.aborted &&
      typeof container === 'object' &&
      container.state === 'running' &&
      container.startedAt === startedAt
    )
  }
  const conclude = (id: AssignmentId, startedAt: string, ready: boolean): void => {
    if (!stillRuns(id, startedAt)) return
    statuses.update(id, { unverified: false, ...(ready ? { readySince: startedAt, trouble: '' } : {}) })
  }
  const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal: stopping.signal, ref: false })

  async function probe(
    id: AssignmentId,
    containerId: string,
    startedAt: string,
    check: HealthCheck,
  ): Promise<void> {
    // A container found running at the agent's start had time to start up, so it is probed at once.
    let delay = statuses.view(id)?.unverified === true ? 0 : FIRST_DELAY_MS
    let failures = 0
    for (;;) {
      await wait(delay)
      if (!stillRuns(id, startedAt) || statuses.view(id)?.readySince === startedAt) return
      const exit = await limit(() => runOnce({ engine, log }, containerId, check))
      if (exit !== 'not_run' && exit !== 0) failures += 1
      // A container that ran before the agent may be serving, so it becomes unready only after as many failed checks as
      // Docker requires for an unhealthy container.
      if (exit === 0 || failures >= (check.retries ?? DEFAULT_RETRIES)) conclude(id, startedAt, exit === 0)
      if (exit === 0) return
      delay = Math.min(Math.max(delay * 2, FIRST_DELAY_MS), probeIntervalMs(check))
    }
  }
  async function waitFiveSeconds(id: AssignmentId, startedAt: string): Promise<void> {
    const runFor = now() - Date.parse(startedAt)
    await wait(Math.min(Math.max(RUNNING_IS_READY_MS - runFor, 0), RUNNING_IS_READY_MS))
    conclude(id, startedAt, true)
  }
  return {
    follow(id, { id: containerId, state, startedAt, health }) {
      const view = statuses.view(id)
      if (view === undefined || state !== 'running' || startedAt === null) return
      if (view.readySince === startedAt) return
      if (health === 'healthy') return conclude(id, startedAt, true)
      if (followed.get(id) === startedAt) return
      followed.set(id, startedAt)
      const check = view.item.template.healthCheck
      const work =
        check === undefined ? waitFiveSeconds(id, startedAt) : probe(id, containerId, startedAt, check)
      work
        .catch((error: unknown) => {
          // An error after the agent's stop is expected, because the stop interrupts the wait, so it is not logged.
          if (!stopping.signal.aborted)
            log.error({ assignment: id, message: String(error) }, 'probing failed')
        })
        .finally(() => {
          if (followed.get(id) === startedAt) followed.delete(id)
        })
    },
    close: () => stopping.abort(),
  }
}

async function runOnce(
  { engine, log }: Pick<ReadinessDeps, 'engine' | 'log'>,
  container: string,
  check: HealthCheck,
): Promise<number | undefined | 'not_run'> {
  try {
    return await engine.runProbe(container, probeCommand(check), probeTimeoutMs(check))
  } catch (error) {
    log.debug({ container, message: String(error) }, 'readiness probe did not run')
    return 'not_run'
  }
}
