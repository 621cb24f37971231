// GET /jobs/{id}/logs: the output of the last attempt, from its container while that exists, and afterwards from the lines
// that its node keeps as long as the job. A followed log also has the output of every later attempt, however short it is.

import { type AssignmentId, isFinalPhase, type LogLine, ownerOf, type TenantId } from '@holdfast/contract'
import { jobs, nodes, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome } from '../caller.ts'
import { type LogTarget, logTargets } from '../deployments/logs/log-targets.ts'
import { createWakeup, type Wakeup } from '../deployments/logs/merge-logs.ts'
import {
  keptLines,
  type LogDeps,
  type LogProgress,
  type LogQuery,
  type LogRequest,
  linesOf,
  newProgress,
  type ReadLines,
  withTime,
} from '../deployments/logs/read-logs.ts'
import { findJob, jobNotFound } from './read-jobs.ts'

export async function readJobLogs(
  deps: LogDeps,
  caller: Caller,
  id: string,
  query: Pick<LogQuery, 'follow' | 'tail' | 'since'>,
): Promise<Outcome<ReadLines>> {
  const { store, clock, readings } = deps
  await store.fresh()
  const job = findJob(store, caller.tenant, id)
  if (job === undefined) return jobNotFound(id)
  readings.note(caller, { action: 'jobs:logs', subject: { kind: 'Job', name: job.spec.name } })
  const asked = withTime({ ...query, previous: false }, clock)
  return done((signal) => linesOfJob(deps, caller, job, asked, signal))
}

/** The most lines of one container that are returned at once. */
const ALL_LINES = 10_000
/** How long the followed stream of an attempt that is over may be silent. The stream from a lost node may never end. */
const OVERDUE_MS = 10_000

async function* linesOfJob(
  deps: LogDeps,
  caller: Caller,
  { id }: StoredJob,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const { store } = deps
  const wakeup = createWakeup(signal)
  const attempts = noteAttempts(store, caller.tenant, id, wakeup)
  let asked = query
  try {
    while (!signal.aborted) {
      const attempt = attempts.next()
      if (attempt !== undefined) {
        yield* linesOfAttempt(deps, caller, attempt, asked, signal)
        asked = { ...query, tail: ALL_LINES }
      } else if (!query.follow || isFinalPhase(findJob(store, caller.tenant, id)?.phase ?? 'failed')) return
      else await wakeup.wait()
    }
  } finally {
    attempts.close()
  }
}

/** A job at the start of one of its attempts. */
type Attempt = StoredJob & { readonly last: AssignmentId }

/** Notes the attempts of a job as they start, so that a reader of one attempt misses none of the later ones. */
function noteAttempts(
  store: Store,
  tenant: TenantId,
  id: StoredJob['id'],
  { notify }: Pick<Wakeup, 'notify'>,
) {
  const noted: Attempt[] = []
  let newest: AssignmentId | undefined
  const note = (): void => {
    const job = findJob(store, tenant, id)
    if (job?.last === undefined || job.last === newest) return
    newest = job.last
    noted.push({ ...job, last: job.last })
  }
  note()
  const close = store.subscribe((changes) => {
    if (!changes.some(({ key }) => key.tenant === tenant && key.folder === jobs.folder && key.id === id))
      return
    note()
    notify()
  })
  return { next: () => noted.shift(), close }
}

/** An engine refuses to read the log of a container while it removes it, and does not find it afterwards. */
const REMOVED: ReadonlySet<string> = new Set(['container_not_found', 'container_not_running'])

async function* linesOfAttempt(
  deps: LogDeps,
  caller: Caller,
  attempt: Attempt,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const progress = newProgress()
  let isRemoved = false
  for await (const line of liveLines(deps, caller, attempt, query, signal, progress))
    if ('unavailable' in line && REMOVED.has(line.unavailable.reason)) isRemoved = true
    else yield line
  // The agent keeps the lines of a container before it removes it, so those that were not read are among the kept ones.
  if (query.follow || isRemoved || !isPlaced(deps.store, caller.tenant, attempt))
    yield* keptAfter(deps, attempt, caller.tenant, query, signal, progress)
}

/** The lines of the container, if it may exist. Followed lines end when the attempt is over. */
async function* liveLines(
  deps: LogDeps,
  caller: Caller,
  attempt: Attempt,
  query: LogQuery,
  signal: AbortSignal,
  progress: LogProgress,
): AsyncGenerator<LogLine> {
  const { store } = deps
  const { tenant } = caller
  const { id, last } = attempt
  const overdue = createOverdue(deps.silenceMs ?? OVERDUE_MS)
  const isGone = (): boolean => findJob(store, tenant, id)?.current !== last
  const targets = (): LogTarget[] => targetsOf(store, tenant, attempt)
  const current = (): LogTarget[] => {
    if (isGone()) overdue.start()
    return targets()
  }
  const request: LogRequest = { caller, targets: targets(), query, current, isGone }
  try {
    for await (const line of linesOf(deps, request, AbortSignal.any([signal, overdue.signal]), progress)) {
      // A slow reader is no silence of the node.
      overdue.stop()
      yield line
    }
  } finally {
    overdue.stop()
  }
}

/** A signal that aborts some time after its start, unless it is stopped before. */
function createOverdue(afterMs: number) {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    signal: controller.signal,
    start(): void {
      timer ??= setTimeout(() => controller.abort(), afterMs)
    },
    stop(): void {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** The container of the attempt, if it may exist. */
const targetsOf = (
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { id, last }: Pick<Attempt, 'id' | 'last'>,
): LogTarget[] =>
  logTargets(store, tenant, ownerOf('job', id), {}).filter(({ assignmentId }) => assignmentId === last)

const isPlaced = (store: Pick<Store, 'get'>, tenant: TenantId, attempt: Attempt): boolean =>
  targetsOf(store, tenant, attempt).length > 0

async function* keptAfter(
  deps: LogDeps,
  { last, nodeId, nodeName, attempts }: Attempt,
  tenant: TenantId,
  query: LogQuery,
  signal: AbortSignal,
  { times }: Pick<LogProgress, 'times'>,
): AsyncGenerator<LogLine> {
  if (nodeId === null || signal.aborted) return
  const node = deps.store.get(inTenant(tenant, nodes, nodeId))?.record
  if (node === undefined) {
    yield { unavailable: { replica: attempts, node: nodeName ?? nodeId, reason: 'node_removed' } }
    return
  }
  const target: LogTarget = {
    ...{ tenant, assignmentId: last, nodeId, node: node.name, replica: attempts, run: null },
  }
  const before = times.get(last)
  // After a line that was sent, every line is wanted.
  const tail = before === undefined ? query.tail : ALL_LINES
  const asked = { targets: [target], query: { ...query, tail, previous: true } }
  for await (const line of keptLines(deps, asked, newProgress(), createWakeup(signal)))
    if (!('time' in line) || line.time > (before ?? '')) yield line
}
