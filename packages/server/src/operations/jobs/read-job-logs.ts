// GET /jobs/{id}/logs: the output of the last attempt, from its container while that exists, and afterwards from the lines
// that its node keeps as long as the job.

import { isFinalPhase, type LogLine, ownerOf, type TenantId } from '@holdfast/contract'
import { nodes, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { type LogTarget, logTargets } from '../deployments/logs/log-targets.ts'
import { createWakeup } from '../deployments/logs/merge-logs.ts'
import {
  auditReading,
  keptLines,
  type LogDeps,
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
  const { store, clock } = deps
  await store.fresh()
  const job = findJob(store, caller.tenant, id)
  if (job === undefined) return jobNotFound(id)
  const gone = await auditReading(deps, caller, 'jobs:logs', { kind: 'Job', name: job.spec.name })
  if (gone !== undefined) return refused(gone)
  const asked = withTime({ ...query, previous: false }, clock)
  return done((signal) => linesOfJob(deps, caller, job, asked, signal))
}

async function* linesOfJob(
  deps: LogDeps,
  caller: Caller,
  job: StoredJob,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const { store } = deps
  const { tenant } = caller
  const progress = newProgress()
  const current = () => liveTargets(store, tenant, job)
  const isGone = (): boolean => isFinalPhase(findJob(store, tenant, job.id)?.phase ?? 'failed')
  const live = current()
  if (live.length > 0 || (query.follow && !isGone())) {
    const request: LogRequest = { caller, targets: live, query, current, isGone }
    yield* linesOf(deps, request, signal, progress)
    if (!query.follow) return
  }
  // A container may have ended and be gone before its lines could be followed; its node has kept them.
  yield* keptAfter(deps, findJob(store, tenant, job.id) ?? job, tenant, query, signal, progress.times)
}

/** The containers of the job that may exist; only the attempt that runs or was last. */
const liveTargets = (store: Pick<Store, 'get'>, tenant: TenantId, { id }: StoredJob): LogTarget[] => {
  const last = findJob(store, tenant, id)?.last
  return logTargets(store, tenant, ownerOf('job', id), {}).filter(({ assignmentId }) => assignmentId === last)
}

async function* keptAfter(
  deps: LogDeps,
  { last, nodeId, nodeName, attempts }: StoredJob,
  tenant: TenantId,
  query: LogQuery,
  signal: AbortSignal,
  sent: ReadonlyMap<string, string>,
): AsyncGenerator<LogLine> {
  if (last === undefined || nodeId === null || signal.aborted) return
  const node = deps.store.get(inTenant(tenant, nodes, nodeId))?.record
  if (node === undefined) {
    yield { unavailable: { replica: attempts, node: nodeName ?? nodeId, reason: 'node_removed' } }
    return
  }
  const target: LogTarget = {
    ...{ tenant, assignmentId: last, nodeId, node: node.name, replica: attempts, run: null },
  }
  const asked = { targets: [target], query: { ...query, previous: true } }
  const before = sent.get(last) ?? ''
  for await (const line of keptLines(deps, asked, newProgress(), createWakeup(signal)))
    if (!('time' in line) || line.time > before) yield line
}
