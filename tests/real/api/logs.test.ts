// Logs through the API, merged over replicas and nodes, with real engines and agents.

import { request } from 'node:http'
import { AGENT_CAPABILITIES, type Assignment, type DeploymentUid, ownerOf } from '@holdfast/contract'
import { nodes, observations, type StoredPlacement } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { dumpKeys } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type StreamsWorld, startStreamsWorld } from '@holdfast/testkit/streams/streams-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MIB = 1024 * 1024
const COUNTED =
  'n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo "line $n"; busybox usleep 2000; done; echo bad >&2; exec sleep 1000'

interface Line {
  readonly time: string
  readonly replica: number
  readonly node: string
  readonly stream: string
  readonly text: string
  readonly skipped?: { readonly replica: number; readonly lines: number; readonly bytes: number }
  readonly unavailable?: { readonly replica: number; readonly node: string; readonly reason: string }
}

let world: StreamsWorld
let developer = ''
beforeAll(async () => {
  world = await startStreamsWorld()
  developer = await makeToken(world.platform.api(), world.tenant, 'developer')
  await world.deploy('counted', ['sh', '-c', COUNTED])
  await waitUntil(async () => (await read('/counted/logs?tail=10000')).filter(isBad).length === 2, {
    what: 'both have written all',
  })
}, 180_000)
afterAll(() => world.stop())

async function changePlacement(
  [one]: readonly Assignment[],
  change: Partial<StoredPlacement>,
): Promise<void> {
  const { store } = world.platform.server
  const owner = store.get(inTenant(world.tenant, observations, one?.id ?? ''))?.record.owner
  await store.transact((transaction) => {
    const at = placementAt(world.tenant, owner ?? ownerOf('deployment', '' as DeploymentUid))
    const placement = transaction.get(at)
    if (placement === undefined) return { kind: 'abort', result: undefined }
    transaction.put(at, { ...placement, ...change })
    return { kind: 'commit', result: undefined }
  })
}

const isBad = ({ text }: Line): boolean => text === 'bad'
const parse = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

async function read(path: string, baseUrl = world.platform.baseUrl): Promise<Line[]> {
  const response = await fetch(`${baseUrl}/api/v1/deployments${path}`, {
    headers: { authorization: `Bearer ${developer}` },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('application/x-ndjson')
  return parse(await response.text())
}

/** Follows a log as fast as possible; a `slow` follower reads one chunk at each `resume`. */
function follow(path: string, { baseUrl = world.platform.baseUrl, slow = false } = {}) {
  const parts: string[] = []
  let kept = 0
  let bytes = 0
  let ended = false
  let missed = false
  const text = (): string => parts.join('')
  const url = `${baseUrl}/api/v1/deployments${path}`
  const sent = request(url, { headers: { authorization: `Bearer ${developer}` }, agent: false })
  sent.on('response', (response) => {
    follower.resume = () => response.resume()
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      bytes += part.length
      if (slow) response.pause()
      if (part.includes('{"skipped"')) missed = true
      parts.push(part)
      kept += part.length
      // The follower counts all bytes of the log and keeps only the last 4 MiB of text.
      while (kept > 4 * MIB) kept -= parts.shift()?.length ?? 0
    })
    response.on('end', () => {
      ended = true
    })
    response.on('error', () => {})
  })
  sent.on('error', () => {})
  sent.end()
  const follower = {
    resume: () => {},
    bytes: () => bytes,
    /** True after the server reported missing log lines. */
    missed: () => missed,
    ended: () => ended,
    /** The complete lines among the log text that was not discarded. */
    lines: (): Line[] => parse(text().slice(text().indexOf('{'), text().lastIndexOf('\n') + 1)),
    text,
    close: () => sent.destroy(),
  }
  return follower
}

test('both server replicas return all log lines of all containers in the order of time', async () => {
  for (const baseUrl of [world.platform.baseUrl, world.other.baseUrl]) {
    const lines = await read('/counted/logs?tail=10000', baseUrl)
    expect(lines).toHaveLength(602)
    const times = lines.map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    for (const [replica, node] of [
      [1, 'node-1'],
      [2, 'node-2'],
    ] as const) {
      const own = lines.filter((line) => line.replica === replica)
      // The engine reads and timestamps stdout and stderr separately, so their relative order is undefined.
      const of = (stream: string) => own.filter((line) => line.stream === stream).map(({ text }) => text)
      expect(of('stdout')).toEqual(Array.from({ length: 300 }, (_, index) => `line ${index + 1}`))
      expect(of('stderr')).toEqual(['bad'])
      expect(own.find(({ text }) => text === 'line 1')).toEqual({
        replica,
        node,
        stream: 'stdout',
        text: 'line 1',
        time: expect.stringMatching(/^\d{4}-.*\.\d{9}Z$/),
      })
    }
  }
})

test('tail counts the lines of each replica, and since and replica filter them', async () => {
  const all = await read('/counted/logs?tail=10000')
  const last = (count: number) =>
    all.filter((line) =>
      all
        .filter(({ replica }) => replica === line.replica)
        .slice(-count)
        .includes(line),
    )
  expect(await read('/counted/logs')).toEqual(last(100))
  expect(await read('/counted/logs?tail=7')).toEqual(last(7))
  expect(await read('/counted/logs?tail=0')).toEqual([])
  const second = all.filter(({ replica }) => replica === 2)
  expect(await read('/counted/logs?replica=2&tail=10000')).toEqual(second)
  const at = all[400]?.time ?? ''
  expect(await read(`/counted/logs?tail=10000&since=${at}`)).toEqual(all.filter(({ time }) => time >= at))
  expect(await read('/counted/logs?since=1h')).toEqual(last(100))
  expect(await read('/counted/logs?since=2035-01-01T00:00:00Z')).toEqual([])
})

test.each([
  'tail=-1',
  'tail=10001',
  'tail=x',
  'since=yesterday',
  'since=2026-13-01T00:00:00Z',
  'replica=0',
  'replica=7',
  'follow=yes',
])('logs reject %s', async (query) => {
  const answer = await world.platform.api(developer).get(`/api/v1/deployments/counted/logs?${query}`)
  expect(answer.codes).toEqual(['query_parameter_invalid'])
})

test('logs are rejected without permission, another tenant finds nothing, and reading is audited', async () => {
  const path = '/api/v1/deployments/counted/logs'
  const viewer = world.platform.api(await makeToken(world.platform.api(), world.tenant, 'viewer'))
  expect((await viewer.get(path)).codes).toEqual(['permission_denied'])
  expect((await world.platform.api(world.platform.globex.token).get(path)).codes).toEqual([
    'deployment_not_found',
  ])
  const subject = { kind: 'Deployment', name: 'counted' }
  const entries = async () => Object((await viewer.get('/api/v1/audit')).body['items'])
  await expect.poll(entries).toContainEqual(expect.objectContaining({ action: 'deployments:logs', subject }))
})

test.each([0, 1])(
  'followed lines arrive once and in order behind the stored ones, through replica %i',
  async (at) => {
    const name = `talking-${at}`
    await world.deploy(name, [
      'sh',
      '-c',
      'n=0; while true; do n=$((n+1)); echo "line $n"; busybox usleep 20000; done',
    ])
    const baseUrl = at === 0 ? world.platform.baseUrl : world.other.baseUrl
    const follower = follow(`/${name}/logs?follow=true&tail=20`, { baseUrl })
    await waitUntil(() => follower.lines().length > 300, { what: 'it is followed' })
    follower.close()
    const lines = follower.lines()
    for (const replica of [1, 2]) {
      const numbers = lines
        .filter((line) => line.replica === replica)
        .map(({ text }) => Number(text.slice(5)))
      const first = numbers[0] ?? 0
      expect(numbers).toEqual(numbers.map((_, index) => first + index))
    }
  },
)

const CRASHING =
  'u=$(cat /proc/sys/kernel/random/uuid); n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo "$u $n"; done; sleep 1; exit 7'

test('previous=true returns the last lines of failed containers, also of those that left the placement', async () => {
  const { store } = world.platform.server
  const assignments = await world.deploy('crashing', ['sh', '-c', CRASHING])
  const path = '/crashing/logs?previous=true&tail=1000'
  const isWhole = (lines: readonly Line[]): boolean =>
    [1, 2].every((number) => {
      const own = lines.filter(({ replica }) => replica === number).map(({ text }) => text)
      return own.length === 200 && new Set(own.map((text) => text.slice(0, 36))).size === 1
    })
  await waitUntil(async () => isWhole(await read(path)), { what: 'both logs are kept', timeoutMs: 30_000 })
  expect((await read(path)).at(-1)?.text).toMatch(/ 300$/)
  expect(await read(`${path}&replica=2`, world.other.baseUrl)).toHaveLength(200)
  const both = await fetch(`${world.platform.baseUrl}/api/v1/deployments${path}&follow=true`, {
    headers: { authorization: `Bearer ${developer}` },
  })
  expect([both.status, Object(await both.json()).field]).toEqual([400, 'follow'])
  const place = (change: Partial<StoredPlacement>) => changePlacement(assignments, change)
  await place({ assignments: assignments.map((one) => ({ ...one, desired: 'removed' as const })) })
  const isGone = ({ id }: Assignment): boolean =>
    store.get(inTenant(world.tenant, observations, id))?.record.gone === true
  await waitUntil(() => assignments.every(isGone), { what: 'both containers are gone', timeoutMs: 30_000 })
  const leftAt = new Date().toISOString()
  const formerly = assignments.map(({ id, replica, nodeId, revision }) => ({
    id,
    replica,
    nodeId,
    revision,
    leftAt,
  }))
  await place({ assignments: [], formerly })
  expect(await read('/crashing/logs')).toEqual([])
  expect((await read(path)).length).toBeGreaterThan(200)
})

test('previous=true names the nodes whose older agents keep no logs', async () => {
  const { store } = world.platform.server
  const [agent] = world.agents
  const at = inTenant(world.tenant, nodes, agent?.nodeId ?? '')
  const change = (capabilities: string[]) =>
    store.transact((transaction) => {
      const node = transaction.get(at)
      if (node === undefined) return { kind: 'abort', result: undefined }
      transaction.put(at, { ...node, agent: { version: '0.0.9', capabilities } })
      return { kind: 'commit', result: undefined }
    })
  await change(['args'])
  const [line] = await read('/counted/logs?previous=true')
  expect(line?.unavailable).toMatchObject({ replica: 1, reason: expect.stringContaining('version 0.0.9') })
  await change([...AGENT_CAPABILITIES])
})

test('crashing containers that write 1 MiB/s cost the agent little memory and etcd nothing per line', {
  timeout: 300_000,
}, async () => {
  const [count, seconds] = [inRun(2, 20), inRun(4, 60)]
  const { store } = world.platform.server
  // Each run writes 105 lines of 1 KB ten times per second, for two seconds. Only the output has the marker as it is.
  const marker = 'marker-of-the-output'
  const script =
    'm=$(echo tuptuo-eht-fo-rekram | busybox rev); b=$(busybox yes "$m $(printf "%01000d" 0)" | head -n 105); r=0; while [ $r -lt 20 ]; do r=$((r+1)); echo "$b"; busybox usleep 95000; done; exit 1'
  const on = world.agents.slice(-1)
  const before = store.revision
  const placed = await Promise.all(
    Array.from({ length: count }, (_, index) => world.deploy(`noisy-${index}`, ['sh', '-c', script], on)),
  )
  const ids = placed.flat().map(({ id }) => id)
  const endMs = performance.now() + seconds * 1000
  const records = () => ids.map((id) => store.get(inTenant(world.tenant, observations, id))?.record)
  const haveCrashed = (): boolean => records().every((seen) => (seen?.restarts ?? 0) > 0)
  await waitUntil(() => performance.now() > endMs && haveCrashed(), { what: 'all crash', timeoutMs: 200_000 })
  const restarts = records().reduce((sum, seen) => sum + (seen?.restarts ?? 0), 0)
  const written = store.revision - before
  const peaks = on.map((agent) => agent.peakMiB())
  console.log(
    `${count} containers, ${seconds} s: agent ${peaks.map(Math.round)} MiB, ${restarts} restarts, ${written} revisions`,
  )
  for (const peak of peaks) expect(peak).toBeLessThan(150)
  for (const seen of records()) {
    expect(JSON.stringify(seen).length).toBeLessThan(2048)
  }
  const keys = await dumpKeys(world.platform.config.etcd.endpoints[0] ?? '', '/')
  expect(Object.keys(keys).length).toBeGreaterThan(ids.length)
  expect(JSON.stringify(keys)).toContain('tuptuo-eht-fo-rekram')
  expect(JSON.stringify(keys)).not.toContain(marker)
  // A crash is a few reports of each container, however much it wrote.
  expect(written).toBeLessThan(10 * (restarts + ids.length) + 10 * seconds)
  const lines = await read('/noisy-0/logs?previous=true&tail=1000')
  expect(lines.filter(({ text }) => text?.startsWith(marker)).length).toBeGreaterThan(60)
  for (const assignments of placed) await changePlacement(assignments, { assignments: [] })
})

test('a slow follower of containers that write at full speed is informed of the gap, and memory is bounded', {
  timeout: 180_000,
}, async () => {
  await world.deploy('flood', ['busybox', 'yes', 'x'.repeat(8_000)])
  const before = process.memoryUsage().rss
  const agentsBefore = world.agents.map((agent) => agent.peakMiB().toFixed(0))
  const follower = follow('/flood/logs?follow=true&replica=2&tail=10', { slow: true })
  const began = performance.now()
  let peak = 0
  await waitUntil(() => follower.bytes() > 0, { what: 'it is followed' })
  // The gap is reported after log chunks that were already buffered, so the follower reads until the report arrives.
  while (!follower.missed() && performance.now() - began < 120_000) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    follower.resume()
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  const gaps = [...follower.text().matchAll(/\{"skipped":\{[^}]*\}\}/g)].map(
    ([gap]) => JSON.parse(gap).skipped,
  )
  const lost = gaps.reduce((sum: number, gap) => sum + gap.bytes, 0)
  console.log(
    `a follower of a flood read ${(follower.bytes() / MIB).toFixed(1)} MiB in ${((performance.now() - began) / 1000).toFixed(0)} s, ${(lost / MIB).toFixed(1)} MiB skipped in`,
    `${gaps.length} gaps (of what was kept); this process (two servers) grew by ${((peak - before) / MIB).toFixed(1)} MiB;`,
    `agents at most ${agentsBefore} before, ${world.agents.map((agent) => agent.peakMiB().toFixed(0))} MiB ever`,
  )
  follower.close()
  expect(gaps.length).toBeGreaterThan(0)
  expect(gaps[0]).toEqual({ replica: 2, lines: expect.any(Number), bytes: expect.any(Number) })
  expect(peak - before).toBeLessThan(128 * MIB)
  for (const agent of world.agents) expect(agent.peakMiB()).toBeLessThan(150)
  // The log flood has not delayed the node's heartbeats, so the node is not unreachable.
  expect((await world.platform.api(developer).get('/api/v1/nodes')).text).not.toContain('unreachable')
})

test('a follower receives the lines of containers that start later, and ends with the token', async () => {
  const api = world.platform.api(world.platform.acme.token)
  const tokens = `/api/v1/tenants/${world.tenant}/tokens`
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const created = await api.post(tokens, { name: 'short', role: 'developer', expiresAt })
  const kept = developer
  developer = String(created.body['token'])
  await world.deploy('restarting', ['sh', '-c', 'echo run $$ at; busybox date; sleep 2; exit 1'])
  const follower = follow('/restarting/logs?follow=true')
  developer = kept
  const runs = () => follower.lines().filter(({ replica, text }) => replica === 1 && text.startsWith('run'))
  await waitUntil(() => runs().length >= 3, { what: 'it was restarted, and read' })
  await api.delete(`${tokens}/${created.body['id']}`)
  await waitUntil(() => follower.ended(), { what: 'the revoked token ends the stream' })
})

test('logs name an unreachable node and return the lines of the others', async () => {
  const follower = follow('/counted/logs?follow=true&tail=1')
  await waitUntil(() => follower.lines().length > 0, { what: 'it is followed' })
  await world.agents[1]?.stop()
  const gap = { unavailable: { replica: 2, node: 'node-2', reason: 'node_unreachable' } }
  await waitUntil(() => follower.lines().some(({ unavailable }) => unavailable !== undefined), {
    what: 'the follower is informed',
  })
  expect(follower.lines()).toContainEqual(gap)
  follower.close()
  const lines = await read('/counted/logs?tail=10000')
  expect(lines[0]).toEqual(gap)
  expect(lines).toHaveLength(302)
})
