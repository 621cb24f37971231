// Decides when a running container is ready: when its health check first passes, or five seconds after the start if it
// has none. The agent runs the check itself with growing delays: Docker's own first result may take a whole interval.

import { setTimeout as pause } from 'node:timers/promises'
import type { AssignmentId, HealthCheck } from '@holdfast/contract'
import {
  DEFAULT_RETRIES,
  probeCommand,
  probeIntervalMs,
  probeTimeoutMs,
  type ReplicaView,
  type SeenContainer,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import { createLimit } from '../converge/limit.ts'
import type { Engine, ProbeResult } from '../ports/engine.ts'
import { reportedText } from './redact.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const FIRST_DELAY_MS = 200
const RUNNING_IS_READY_MS = 5000
/** Most probes that run at once, because probes cost CPU time on a node that starts many containers. */
const MAX_PROBES = 4

export interface Readiness {
  /** Begins to check a container's readiness. Call after each inspection; repeated calls for one start have no effect. */
  follow(id: AssignmentId, container: SeenContainer): void
  /** Called when a run ended, before its container is inspected: the run no longer becomes ready by running on. */
  forget(id: AssignmentId): void
  close(): void
}

export interface ReadinessDeps {
  readonly engine: Pick<Engine, 'runProbe' | 'readEnvironment'>
  readonly statuses: ReplicaStatusTable
  /** Current time in milliseconds since 1970. */
  now(): number
  readonly log: Logger
}

export function createReadiness({ engine, statuses, now, log }: ReadinessDeps): Readiness {
  const followed = new Map<AssignmentId, string>()
  const stopping = new AbortController()

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

  const probeUntilReady = createProbing({ engine, statuses, log, stillRuns, conclude, wait })
  async function waitFiveSeconds(id: AssignmentId, startedAt: string): Promise<void> {
    const runFor = now() - Date.parse(startedAt)
    await wait(Math.min(Math.max(RUNNING_IS_READY_MS - runFor, 0), RUNNING_IS_READY_MS))
    if (followed.get(id) === startedAt) conclude(id, startedAt, true)
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
        check === undefined
          ? waitFiveSeconds(id, startedAt)
          : probeUntilReady(id, { containerId, startedAt }, check)
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
    forget: (id) => void followed.delete(id),
    close: () => stopping.abort(),
  }
}

interface ProbingDeps extends Pick<ReadinessDeps, 'engine' | 'statuses' | 'log'> {
  stillRuns(id: AssignmentId, startedAt: string): boolean
  conclude(id: AssignmentId, startedAt: string, ready: boolean): void
  wait(ms: number): Promise<void>
}

/** One start of a container. */
interface Run {
  readonly containerId: string
  readonly startedAt: string
}

function createProbing({ engine, statuses, log, stillRuns, conclude, wait }: ProbingDeps) {
  const limit = createLimit(MAX_PROBES)
  return async (id: AssignmentId, run: Run, check: HealthCheck): Promise<void> => {
    const { containerId, startedAt } = run
    // A container found running at the agent's start had time to start up, so it is probed at once.
    let delay = statuses.view(id)?.unverified === true ? 0 : FIRST_DELAY_MS
    let failures = 0
    for (;;) {
      await wait(delay)
      if (!stillRuns(id, startedAt) || statuses.view(id)?.readySince === startedAt) return
      const result = await limit(() => runOnce({ engine, log }, containerId, check))
      const exit = result?.exitCode
      if (result !== undefined && exit !== 0) {
        failures += 1
        const probes = await reportedProbes({ engine, statuses }, id, run, failures, result)
        if (probes !== undefined && stillRuns(id, startedAt)) statuses.update(id, { probes })
      }
      // A container that ran before the agent may be serving, so it becomes unready only after as many failed checks as
      // Docker requires for an unhealthy container.
      if (exit === 0 || failures >= (check.retries ?? DEFAULT_RETRIES)) conclude(id, startedAt, exit === 0)
      if (exit === 0) return
      delay = Math.min(Math.max(delay * 2, FIRST_DELAY_MS), probeIntervalMs(check))
    }
  }
}

/**
 * How many checks failed and the output of the last one, as they are reported; undefined for a number that is not
 * reported, because every report is a stored write.
 */
async function reportedProbes(
  { engine, statuses }: Pick<ReadinessDeps, 'engine' | 'statuses'>,
  id: AssignmentId,
  { containerId, startedAt }: Run,
  count: number,
  { output }: ProbeResult,
): Promise<ReplicaView['probes']> {
  const view = statuses.view(id)
  if (view === undefined || !isReported(count)) return undefined
  return { count, startedAt, output: await reportedText(engine, view.item, containerId, output) }
}

const REPORTED_ONE_BY_ONE = 3

/** Whether this number of failed checks is reported: the first ones, then each power of two. */
const isReported = (count: number): boolean =>
  count <= REPORTED_ONE_BY_ONE || Number.isInteger(Math.log2(count))

/** Runs a check once; undefined if the engine could not run it. */
async function runOnce(
  { engine, log }: Pick<ReadinessDeps, 'engine' | 'log'>,
  container: string,
  check: HealthCheck,
): Promise<ProbeResult | undefined> {
  try {
    return await engine.runProbe(container, probeCommand(check), probeTimeoutMs(check))
  } catch (error) {
    log.debug({ container, message: String(error) }, 'readiness probe did not run')
    return undefined
  }
}
