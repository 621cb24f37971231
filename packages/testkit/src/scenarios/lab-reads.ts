// What the tests on the lab look at: the API as a tenant, and the machines themselves.

import { waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import type { LabPlatform } from './start-lab-platform.ts'

const OURS = ['--filter', 'label=holdfast.io/assignment']

/** Name and state of each of our containers on a machine, as its engine tells it. */
export async function containersOn(whole: LabPlatform, name: string): Promise<string[]> {
  return linesOf(whole, name, ['docker', 'ps', '--all', ...OURS, '--format', '{{.Names}} {{.State}}'])
}

export async function containerIds(whole: LabPlatform, name: string): Promise<string[]> {
  return linesOf(whole, name, ['docker', 'ps', '--all', '--no-trunc', ...OURS, '--format', '{{.ID}}'])
}

async function linesOf(whole: LabPlatform, name: string, command: readonly string[]): Promise<string[]> {
  const told = await whole.node(name).exec(command)
  return told
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

export async function inspect(whole: LabPlatform, node: string, container: string) {
  const [found] = JSON.parse(await whole.node(node).exec(['docker', 'inspect', container]))
  return found
}

export interface PlacedReplica {
  readonly replica: number
  readonly nodeName: string
  readonly state: string
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
    throw new Error(`${error.message} It was: ${JSON.stringify(seen)}`)
  })
}

/** The containers of this revision run, and none of another. */
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

/** The secrets store's failure is remembered for 30 s, and an agent asks again after 30 s at the latest. */
const HEALED_MS = 90_000

/** Gives how long it took, in milliseconds. */
export async function untilHealed(api: ApiClient, name: string): Promise<number> {
  const started = performance.now()
  await waitUntil(
    async () => Object((await api.get(`/api/v1/deployments/${name}`)).body['status']).phase === 'Running',
    { what: `${name} has healed`, timeoutMs: HEALED_MS },
  )
  return performance.now() - started
}

interface ToldEvent {
  readonly time: string
  readonly reason: string
  readonly subject: { readonly name: string }
  readonly data: unknown
}

export async function eventsOf(api: ApiClient, type: string): Promise<ToldEvent[]> {
  const { body } = await api.get(`/api/v1/events?type=${type}&limit=500`)
  return Object(body['items'])
}

/** Of each of our containers on a machine its id and when it was started: the same text means that nothing was touched. */
export async function startsOn(whole: LabPlatform, name: string): Promise<string[]> {
  const ids = await containerIds(whole, name)
  if (ids.length === 0) return []
  const facts = '{{.Id}} {{.State.StartedAt}} {{.RestartCount}} {{.State.Status}}'
  return linesOf(whole, name, ['docker', 'inspect', '--format', facts, ...ids])
}
