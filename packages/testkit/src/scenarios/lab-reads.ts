// Functions that read state for tests on the lab: from the API as a tenant, and from the machines themselves.

import { waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import { askEngine } from './ask-engine.ts'
import type { LabPlatform } from './start-lab-platform.ts'

/** The managed containers of a machine, running or not. */
const OURS = `/containers/json?all=1&filters=${encodeURIComponent('{"label":["holdfast.io/assignment"]}')}`

interface ListedContainer {
  readonly Id: string
  readonly Names: readonly string[]
  readonly State: string
}

async function listContainers(
  cluster: Pick<LabPlatform, 'node'>,
  name: string,
): Promise<readonly ListedContainer[]> {
  return Object(await askEngine(cluster.node(name), OURS))
}

/** Name and state of each managed container on a machine, as the machine's engine lists them. */
export async function containersOn(cluster: Pick<LabPlatform, 'node'>, name: string): Promise<string[]> {
  const listed = await listContainers(cluster, name)
  return listed.map(({ Names, State }) => `${Names.map((each) => each.slice(1)).join()} ${State}`).sort()
}

export async function containerIds(cluster: Pick<LabPlatform, 'node'>, name: string): Promise<string[]> {
  return (await listContainers(cluster, name)).map(({ Id }) => Id).sort()
}

export async function inspect(cluster: Pick<LabPlatform, 'node'>, node: string, container: string) {
  return Object(await askEngine(cluster.node(node), `/containers/${container}/json`))
}

export interface PlacedReplica {
  readonly replica: number
  readonly nodeName: string
  readonly state: string
  readonly revision: number
  readonly containerId: string | null
  readonly canary?: boolean
}

export async function placementsOf(api: ApiClient, name: string): Promise<PlacedReplica[]> {
  const { body } = await api.get(`/api/v1/deployments/${name}/placements`)
  return Object(body['items'])
}

export async function untilPhase(api: ApiClient, name: string, phase: string): Promise<void> {
  let seen: unknown
  await waitUntil(
    async () => {
      seen = (await api.get(`/api/v1/deployments/${name}`)).body['status']
      return Object(seen).phase === phase
    },
    { what: `${name} is ${phase}`, timeoutMs: 60_000 },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last status: ${JSON.stringify(seen)}`)
  })
}

/** Waits until only containers of the given revision of a deployment run. */
export async function untilRevision(api: ApiClient, name: string, revision: unknown): Promise<void> {
  await waitUntil(
    async () => {
      const { body } = await api.get(`/api/v1/deployments/${name}`)
      const { phase, runningRevision } = Object(body['status'])
      return phase === 'Running' && runningRevision === revision
    },
    { what: `revision ${String(revision)} of ${name} runs`, timeoutMs: 60_000 },
  )
}

/**
 * Time limit for recovery from a secrets store failure. The server caches the failure for 30 s, and the agent's backoff
 * is at most 30 s.
 */
const RECOVERED_MS = 90_000

/** Waits until the deployment has recovered. Returns how long this took, in milliseconds. */
export async function untilHealed(api: ApiClient, name: string): Promise<number> {
  const started = performance.now()
  await waitUntil(
    async () => Object((await api.get(`/api/v1/deployments/${name}`)).body['status']).phase === 'Running',
    { what: `${name} has recovered`, timeoutMs: RECOVERED_MS },
  )
  return performance.now() - started
}

interface ListedEvent {
  readonly time: string
  readonly reason: string
  readonly subject: { readonly name: string }
  readonly data: unknown
}

export async function eventsOf(api: ApiClient, type: string): Promise<ListedEvent[]> {
  const { body } = await api.get(`/api/v1/events?type=${type}&limit=500`)
  return Object(body['items'])
}

/**
 * Id and start time of each managed container on a machine. Equal results mean that no container was restarted or
 * replaced.
 */
export async function startsOn(cluster: Pick<LabPlatform, 'node'>, name: string): Promise<string[]> {
  const ids = await containerIds(cluster, name)
  const found = await Promise.all(ids.map((id) => inspect(cluster, name, id)))
  return found.map(({ Id, RestartCount, State }) =>
    [Id, State.StartedAt, RestartCount, State.Status].join(' '),
  )
}
