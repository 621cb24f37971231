// Many deployments want to write one volume of a lab at the same time. The events of the machines' own engines show which
// containers ever mounted it.

import { type LabNode, waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiAnswer } from '../platform/api-client.ts'
import { untilPhase } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

const COLLECTION = '/api/v1/deployments'
/** An engine keeps its last 256 events; with fewer, no event is missing. */
const KEPT_EVENTS = 256

/**
 * Lets many creates and updates contend for a volume whose primary is on a node. Checks that one of them gets a container, and
 * that the next writer gets its container after that one is gone.
 */
export async function contendFor(
  cluster: LabPlatform,
  { volume, node, writes }: { readonly volume: string; readonly node: string; readonly writes: number },
): Promise<void> {
  const api = cluster.api('acme')
  const sleeping = Array.from({ length: writes / 5 }, () => newBody(cluster, { replicas: 0 }))
  const made = await Promise.all(sleeping.map((body) => api.post(COLLECTION, body)))
  for (const { status, text } of made) expect(status, text).toBe(201)
  const since = Math.floor(Date.now() / 1000)
  const names = sleeping.map(({ name }) => name)
  const [first = '', ...rest] = await contend(cluster, volume, writes - names.length, names)
  expect(rest).toEqual([])
  await untilPhase(api, first, 'Running')
  expect(await writersOf(cluster, volume)).toEqual([`${node}/${first}`])
  expect(createdNames(await eventsSince(cluster, since), volume)).toEqual([`${node}/${first}`])

  // The next writer gets its container only after that of the first one is gone.
  expect((await api.delete(`${COLLECTION}/${first}`)).status).toBe(202)
  const accepted: string[] = []
  await waitUntil(
    async () => {
      accepted.push(...(await contend(cluster, volume, writes / 5)))
      return accepted.length > 0
    },
    { what: 'another deployment may write the volume', timeoutMs: 60_000 },
  )
  const [second = '', ...others] = accepted
  expect(others).toEqual([])
  await untilPhase(api, second, 'Running')
  expect(await writersOf(cluster, volume)).toEqual([`${node}/${second}`])
  const events = await eventsSince(cluster, since)
  expect(createdNames(events, volume)).toEqual([`${node}/${first}`, `${node}/${second}`])
  const timeOf = (action: string, name: string): number =>
    events.find((event) => event.action === action && event.name === name)?.timeNano ?? Number.NaN
  expect(timeOf('destroy', first)).toBeLessThan(timeOf('create', second))
  expect((await api.delete(`${COLLECTION}/${second}`)).status).toBe(202)
}

let count = 0
const newBody = ({ image }: LabPlatform, parts: object) => {
  count += 1
  return { kind: 'Deployment', name: `app-${count}`, image, replicas: 1, stopGracePeriod: '1s', ...parts }
}
const mountsOf = (volume: string) => ({
  volumes: [{ volume, target: '/data', type: 'volume', readOnly: false }],
})

/** Sends creates and updates at once, each of which wants to write the volume. Returns the names of the accepted ones. */
async function contend(
  cluster: LabPlatform,
  volume: string,
  creates: number,
  updated: readonly string[] = [],
): Promise<string[]> {
  const api = cluster.api('acme')
  const change = { ...mountsOf(volume), replicas: 1 }
  const answers: ApiAnswer[] = await Promise.all([
    ...updated.map((name) => api.put(`${COLLECTION}/${name}`, change)),
    ...Array.from({ length: creates }, () => api.post(COLLECTION, newBody(cluster, mountsOf(volume)))),
  ])
  const codes = answers.flatMap((answer) => (answer.status < 300 ? [] : answer.codes))
  expect(new Set(codes)).toEqual(new Set(['volume_access_mode_conflict']))
  return answers.filter(({ status }) => status < 300).map(({ body }) => Object(body['deployment']).name)
}

interface ContainerEvent {
  readonly node: string
  readonly action: string
  readonly name: string
  readonly timeNano: number
}

const machinesOf = ({ lab }: LabPlatform): LabNode[] => lab.nodes.filter(({ tenant }) => tenant === 'acme')

/** All events about containers on all machines since a time, in order. */
async function eventsSince(cluster: LabPlatform, seconds: number): Promise<ContainerEvent[]> {
  const found: ContainerEvent[] = []
  for (const node of machinesOf(cluster)) {
    const until = String(Math.ceil(Date.now() / 1000))
    const range = ['--since', String(seconds), '--until', until, '--format', '{{json .}}']
    const lines = (await node.exec(['docker', 'events', ...range])).trim().split('\n')
    expect(lines.length).toBeLessThan(KEPT_EVENTS)
    for (const event of lines.filter(Boolean).map((line) => JSON.parse(line)))
      if (event.Type === 'container')
        found.push({
          node: node.name,
          action: event.Action,
          name: event.Actor.Attributes.name,
          timeNano: event.timeNano,
        })
  }
  return found.toSorted((a, b) => a.timeNano - b.timeNano)
}

/** The containers of all machines that mount the volume for writing, by the mounts that their engines report. */
async function writersOf(cluster: LabPlatform, volume: string): Promise<string[]> {
  const writers: string[] = []
  for (const node of machinesOf(cluster)) {
    const ids = (await node.exec(['docker', 'ps', '--all', '--quiet'])).split('\n').filter(Boolean)
    const found = ids.length === 0 ? [] : JSON.parse(await node.exec(['docker', 'inspect', ...ids]))
    for (const { Name, Mounts } of found) {
      const isWriter = Object.values(Mounts).some(
        (one) => Object(one).RW && `${Object(one).Source}/`.includes(`/${volume}/`),
      )
      if (isWriter) writers.push(`${node.name}${Name}`)
    }
  }
  return writers
}

const createdNames = (events: readonly ContainerEvent[], volume: string): string[] =>
  events
    .filter(({ action, name }) => action === 'create' && name !== `holdfast-seed-${volume}`)
    .map(({ node, name }) => `${node}/${name}`)
