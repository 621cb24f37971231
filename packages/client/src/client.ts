// Creates a typed client for the whole API.

import { createCalls } from './calls.ts'
import { type ClientRuntime, type Connection, DEFAULT_DEADLINE_MS, defaultRuntime } from './connection.ts'
import { activityCalls } from './endpoints/activity.ts'
import { backupCalls } from './endpoints/backups.ts'
import { deploymentCalls } from './endpoints/deployments.ts'
import { dryRunCalls } from './endpoints/dry-runs.ts'
import { jobCalls } from './endpoints/jobs.ts'
import { networkCalls } from './endpoints/networks.ts'
import { nodeCalls } from './endpoints/nodes.ts'
import { registryCalls } from './endpoints/registries.ts'
import { scalingCalls } from './endpoints/scaling.ts'
import { schedulerCalls } from './endpoints/scheduler.ts'
import { secretCalls } from './endpoints/secrets.ts'
import { tenantCalls } from './endpoints/tenants.ts'
import { volumeCalls } from './endpoints/volumes.ts'
import { execUrl } from './exec-frames.ts'
import { type FollowChangesOptions, followChanges } from './follow-changes.ts'
import { type FollowOptions, followEvents } from './follow-events.ts'
import { type LogQuery, readLogs } from './read-logs.ts'
import { segment } from './request.ts'

export interface ClientOptions
  extends Pick<Connection, 'baseUrl' | 'token' | 'tenant' | 'signal' | 'observe'> {
  readonly deadlineMs?: number
  readonly runtime?: Partial<ClientRuntime>
}

export type Client = ReturnType<typeof createClient>

export function createClient({ deadlineMs = DEFAULT_DEADLINE_MS, runtime = {}, ...place }: ClientOptions) {
  const baseUrl = place.baseUrl.replace(/\/+$/, '')
  const connection: Connection = { ...place, baseUrl, deadlineMs, runtime: { ...defaultRuntime, ...runtime } }
  const calls = createCalls(connection)
  return {
    backups: backupCalls(calls),
    deployments: deploymentCalls(calls),
    dryRuns: dryRunCalls(calls),
    jobs: jobCalls(calls, connection),
    networks: networkCalls(calls),
    nodes: nodeCalls(calls),
    tenants: tenantCalls(calls),
    registries: registryCalls(calls),
    scaling: scalingCalls(calls),
    scheduler: schedulerCalls(calls),
    secrets: secretCalls(calls),
    volumes: volumeCalls(calls, connection),
    ...activityCalls(calls),
    followEvents: (options: FollowOptions) => followEvents(connection, options),
    followChanges: (options?: FollowChangesOptions) => followChanges(connection, options),
    logs: (name: string, query: LogQuery, signal?: AbortSignal) =>
      readLogs(connection, `/deployments/${segment(name)}/logs`, query, { signal }),
    execUrl: (issued: { readonly id: string; readonly ticket: string }) => execUrl(connection, issued),
  }
}
