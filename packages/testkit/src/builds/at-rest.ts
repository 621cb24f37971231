// Waits until a platform of two builds is at rest after a change: every node has a session, every server reaches every
// node, and every deployment runs its revision on ready replicas.

import type { ApiClient } from '../platform/api-client.ts'
import { waitUntil } from '../wait-until.ts'
import { findLogFaults } from './log-faults.ts'
import type { BuildsPlatform } from './start-builds-platform.ts'

const DEPLOYMENTS = '/api/v1/deployments'
const PATIENCE_MS = 60_000
const MAX_FAULTS = 5

/** Waits until the platform is at rest. The error of a platform that is not quotes the first faults in the logs. */
export async function untilAtRest(platform: BuildsPlatform): Promise<void> {
  const { servers, token, nodeIds, processes } = platform
  let unrest: string | undefined
  const isAtRest = async () => {
    for (const server of servers) {
      unrest = await findUnrest(server.api(token), nodeIds)
      if (unrest !== undefined) return false
    }
    return true
  }
  const options = { what: 'the platform is at rest', timeoutMs: PATIENCE_MS, intervalMs: 100 }
  await waitUntil(isAtRest, options).catch((error: Error) => {
    const faults = processes.flatMap((name, at) =>
      findLogFaults(platform.output(at)).map((line) => `${name}: ${line}`),
    )
    throw new Error([`${error.message} Last: ${unrest}`, ...faults.slice(0, MAX_FAULTS)].join('\n'))
  })
}

/** Anything that is not at rest, as one server reports it; undefined if there is nothing. */
async function findUnrest(api: ApiClient, nodeIds: readonly string[]): Promise<string | undefined> {
  for (const id of nodeIds) {
    const { status, text } = await api.get(`/api/v1/nodes/${id}/containers`)
    if (status !== 200) return text
  }
  const { body } = await api.get(DEPLOYMENTS)
  for (const item of Object.values(Object(body['items'])))
    if (!(await isSettled(api, item))) return JSON.stringify(item)
  return undefined
}

async function isSettled(api: ApiClient, item: unknown): Promise<boolean> {
  const { name, replicas, revision, status } = Object(item)
  if (replicas === 0) return true
  if (status.phase !== 'Running' || status.runningRevision !== revision) return false
  const placed = await containersOf(api, name)
  return placed.length === replicas && placed.every(({ state }) => state === 'ready')
}

export interface PlacedContainer {
  readonly nodeName: string
  readonly state: string
  readonly containerId: string
  readonly startedAt: string
}

export async function containersOf(api: Pick<ApiClient, 'get'>, name: string): Promise<PlacedContainer[]> {
  return Object((await api.get(`${DEPLOYMENTS}/${name}/placements`)).body['items'])
}
