// Many deployments want to write one volume at the same time. Exactly one of them is accepted, and the engines themselves
// show that no container of another one ever existed, on either engine line and also when the writer changes.

import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const WRITES = inRun(50, 1_000)
const NODES = ['acme-1', 'acme-2']
const COLLECTION = '/api/v1/deployments'
/** An engine keeps its last 256 events; with fewer, no event is missing. */
const KEPT_EVENTS = 256

let cluster: LabPlatform
beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    settings: { volumes: { enabled: true }, quotas: { deployments: 5_000 } },
  })
})
afterAll(() => cluster?.stop())

const api = () => cluster.api('acme')

async function createVolume(nodeName: string): Promise<string> {
  const path = `/api/v1/tenants/${cluster.platform.acme.id}/volumes`
  const listed = Object.values(Object((await api().get('/api/v1/nodes')).body['items'])).map(Object)
  const nodeId = listed.find(({ name }) => name === nodeName)?.id
  const sent = { name: `on-${nodeName}`, class: 'replicated', sizeBytes: 2 ** 25, replicas: 1, nodeId }
  const created = await api().post(path, sent)
  expect(created.status, created.text).toBe(201)
  const { id } = Object(created.body['volume'])
  await waitUntil(async () => (await api().get(`${path}/${id}`)).body['phase'] === 'Ready', {
    what: 'the volume is ready',
    timeoutMs: 60_000,
  })
  return id
}

let count = 0
const newBody = (parts: object) => {
  count += 1
  const image = cluster.image
  return { kind: 'Deployment', name: `app-${count}`, image, replicas: 1, stopGracePeriod: '1s', ...parts }
}
const mountsOf = (volume: string) => ({
  volumes: [{ volume, target: '/data', type: 'volume', readOnly: false }],
})

/** Sends creates and updates at once, each of which wants to write the volume. Returns the names of the accepted ones. */
async function contend(volume: string, creates: number, updated: readonly string[] = []): Promise<string[]> {
  const change = { ...mountsOf(volume), replicas: 1 }
  const answers: ApiAnswer[] = await Promise.all([
    ...updated.map((name) => api().put(`${COLLECTION}/${name}`, change)),
    ...Array.from({ length: creates }, () => api().post(COLLECTION, newBody(mountsOf(volume)))),
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

/** All events about containers on all machines since a time, in order. */
async function eventsSince(seconds: number): Promise<ContainerEvent[]> {
  const found: ContainerEvent[] = []
  for (const node of NODES) {
    const until = String(Math.ceil(Date.now() / 1000))
    const range = ['--since', String(seconds), '--until', until, '--format', '{{json .}}']
    const lines = (await cluster.node(node).exec(['docker', 'events', ...range])).trim().split('\n')
    expect(lines.length).toBeLessThan(KEPT_EVENTS)
    for (const event of lines.filter(Boolean).map((line) => JSON.parse(line)))
      if (event.Type === 'container')
        found.push({
          node,
          action: event.Action,
          name: event.Actor.Attributes.name,
          timeNano: event.timeNano,
        })
  }
  return found.toSorted((a, b) => a.timeNano - b.timeNano)
}

/** The containers of all machines that mount the volume for writing, by the mounts that their engines report. */
async function writersOf(volume: string): Promise<string[]> {
  const writers: string[] = []
  for (const name of NODES) {
    const node = cluster.node(name)
    const ids = (await node.exec(['docker', 'ps', '--all', '--quiet'])).split('\n').filter(Boolean)
    const found = ids.length === 0 ? [] : JSON.parse(await node.exec(['docker', 'inspect', ...ids]))
    for (const { Name, Mounts } of found) {
      const isWriter = Object.values(Mounts).some(
        (one) => Object(one).RW && `${Object(one).Source}/`.includes(`/${volume}/`),
      )
      if (isWriter) writers.push(`${name}${Name}`)
    }
  }
  return writers
}

const createdNames = (events: readonly ContainerEvent[], volume: string): string[] =>
  events
    .filter(({ action, name }) => action === 'create' && name !== `holdfast-seed-${volume}`)
    .map(({ node, name }) => `${node}/${name}`)

test.each(NODES)(
  `only one of ${WRITES} creates and updates ever has a container that writes a volume on %s`,
  async (node) => {
    const volume = await createVolume(node)
    const sleeping = Array.from({ length: WRITES / 5 }, () => newBody({ replicas: 0 }))
    const made = await Promise.all(sleeping.map((body) => api().post(COLLECTION, body)))
    for (const { status, text } of made) expect(status, text).toBe(201)
    const since = Math.floor(Date.now() / 1000)
    const names = sleeping.map(({ name }) => name)
    const [first = '', ...rest] = await contend(volume, WRITES - names.length, names)
    expect(rest).toEqual([])
    await untilPhase(api(), first, 'Running')
    expect(await writersOf(volume)).toEqual([`${node}/${first}`])
    expect(createdNames(await eventsSince(since), volume)).toEqual([`${node}/${first}`])

    // The next writer gets its container only after that of the first one is gone.
    expect((await api().delete(`${COLLECTION}/${first}`)).status).toBe(202)
    const accepted: string[] = []
    await waitUntil(
      async () => {
        accepted.push(...(await contend(volume, WRITES / 5)))
        return accepted.length > 0
      },
      { what: 'another deployment may write the volume', timeoutMs: 60_000 },
    )
    const [second = '', ...others] = accepted
    expect(others).toEqual([])
    await untilPhase(api(), second, 'Running')
    expect(await writersOf(volume)).toEqual([`${node}/${second}`])
    const events = await eventsSince(since)
    expect(createdNames(events, volume)).toEqual([`${node}/${first}`, `${node}/${second}`])
    const timeOf = (action: string, name: string): number =>
      events.find((event) => event.action === action && event.name === name)?.timeNano ?? Number.NaN
    expect(timeOf('destroy', first)).toBeLessThan(timeOf('create', second))
    expect((await api().delete(`${COLLECTION}/${second}`)).status).toBe(202)
  },
)
