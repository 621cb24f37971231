// A machine that lies about its location, over HTTP and the agent protocol: labels that its join token did not attest
// never make the node a candidate, however often the machine enrolls again, and events report the refused labels.

import type { NodeId, ServerMessage } from '@holdfast/contract'
import {
  helloOf,
  makeSimulatedKeys,
  readyObservation,
  type SimulatedNode,
  waitUntil,
} from '@holdfast/testkit'
import { enroll, enrollment, joinToken } from '@holdfast/testkit/nodes/enroll'
import { eventsOf } from '@holdfast/testkit/nodes/read-events'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { dialRaw, type RawAgent } from '@holdfast/testkit/session/raw-agent'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const COUNTRY = 'holdfast.io/country'
const REGION = 'holdfast.io/geo-region'
const DEPLOYMENTS = '/api/v1/deployments'

let platform: Platform
let acme: ApiClient

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  acme = platform.api(platform.acme.token)
})
afterAll(() => platform.stop())

type Labels = { readonly [key: string]: string }

/** Enrolls a node with new keys; `attested` is the location in the join token. */
async function join(name: string, attested: object | undefined, labels: Labels): Promise<SimulatedNode> {
  const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
  const token = await joinToken(acme, name, attested === undefined ? {} : { residency: attested })
  const { status, body, text } = await enroll(
    platform.baseUrl,
    enrollment(name, token, { labels, publicKey, encryptionKey }),
  )
  if (status !== 201) throw new Error(text)
  return { nodeId: body['nodeId'] as NodeId, generation: Number(body['generation']), identityKey }
}

interface Connected {
  readonly agent: RawAgent
  /** Ids of all assignments that the node ever received. */
  readonly assigned: ReadonlySet<string>
}

/** Opens a session; undefined if the server closes it because the node opened another session a moment ago. */
async function tryToConnect(node: SimulatedNode, labels: Labels): Promise<RawAgent | undefined> {
  const agent = await dialRaw(platform.baseUrl)
  onTestFinished(() => agent.close())
  const { nonce } = await agent.next('challenge')
  agent.send({ ...helloOf(node, nonce), labels })
  const { type } = await waitUntil(
    () => agent.heard.find((each) => each.type === 'welcome' || each.type === 'close'),
    { what: 'a session or none' },
  )
  return type === 'welcome' ? agent : undefined
}

let seq = 0

/** Opens a session whose agent reports every container as ready at once. */
async function connect(node: SimulatedNode, labels: Labels): Promise<Connected> {
  const agent = await waitUntil(() => tryToConnect(node, labels), { what: 'a session', intervalMs: 200 })
  const assigned = new Set<string>()
  const { session } = await agent.next('welcome')
  const answer = (message: ServerMessage): void => {
    if ((message.type !== 'delta' && message.type !== 'complete') || message.items.length === 0) return
    for (const { assignmentId } of message.items) assigned.add(assignmentId)
    seq += 1
    const observations = message.items.map((item) => readyObservation(item, seq))
    agent.send({ type: 'status', session, observations })
  }
  agent.heard.forEach(answer)
  agent.socket.on('message', (data) => answer(JSON.parse(String(data))))
  return { agent, assigned }
}

const deploy = (name: string, residency: object) =>
  acme.post(DEPLOYMENTS, {
    kind: 'Deployment',
    name,
    image: platform.image,
    replicas: 1,
    placement: { residency },
  })
const statusOf = async (name: string) => (await acme.get(`${DEPLOYMENTS}/${name}/status`)).body
const homeOf = async (name: string): Promise<string[]> => {
  const { items } = (await acme.get(`${DEPLOYMENTS}/${name}/placements`)).body as {
    items: { nodeName: string }[]
  }
  return items.map(({ nodeName }) => nodeName)
}
const refusedOf = async (name: string) =>
  (await eventsOf(acme, name)).filter(({ type }) => type === 'node.labels_refused').map(({ data }) => data)
const waits = (name: string) =>
  expect.poll(() => statusOf(name)).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })

async function isNoCandidate(spoofer: string): Promise<void> {
  for (const name of ['data', 'near']) {
    await waits(name)
    expect(await homeOf(name)).toEqual([])
    const { candidates } = (await acme.get(`${DEPLOYMENTS}/${name}/why`)).body as {
      candidates: { nodeName: string; refusals: { filter: string; reported: object }[] }[]
    }
    const own = candidates.find(({ nodeName }) => nodeName === spoofer)
    expect(own?.refusals.some(({ filter }) => filter.startsWith('residency_'))).toBe(true)
    expect(JSON.stringify(own?.refusals)).not.toContain(`"${COUNTRY}":"DE"},"fix"`)
  }
}

test('a node that changes its country label and enrolls again never gets workloads that must not be there', async () => {
  expect((await deploy('data', { country: 'DE' })).status).toBe(201)
  expect((await deploy('near', { region: 'dach' })).status).toBe(201)
  const lie = { [COUNTRY]: 'DE', [REGION]: 'dach' }
  const refusedAs = (country: string | null) => ({
    refused: [
      { label: COUNTRY, advertised: 'DE', attested: country },
      { label: REGION, advertised: 'dach', attested: null },
    ],
  })

  const honestly = await join('spoofer', { country: 'FR' }, { [COUNTRY]: 'FR' })
  const first = await connect(honestly, { [COUNTRY]: 'FR' })
  await isNoCandidate('spoofer')
  expect(await refusedOf('spoofer')).toEqual([])

  first.agent.close()
  const flipped = await connect(honestly, lie)
  await expect.poll(() => refusedOf('spoofer')).toEqual([refusedAs('FR')])
  expect((await acme.get(`/api/v1/nodes/${honestly.nodeId}`)).body['labels']).toEqual({})
  await isNoCandidate('spoofer')

  // A node that hides its country is no candidate for a deployment that blocks this country.
  expect((await deploy('far', { blockedCountries: ['FR'] })).status).toBe(201)
  await waits('far')
  expect(await homeOf('far')).toEqual([])
  await acme.delete(`${DEPLOYMENTS}/far`)

  // The same false label on a new connection causes no second event.
  flipped.agent.close()
  const again = await connect(honestly, lie)
  await isNoCandidate('spoofer')
  expect(await refusedOf('spoofer')).toHaveLength(1)

  // The node is deleted and enrolls with a token that attests nothing, then with one that attests another country.
  again.agent.close()
  expect((await acme.delete(`/api/v1/nodes/${honestly.nodeId}`)).status).toBe(202)
  const reenrolled = await join('spoofer', undefined, lie)
  expect(reenrolled.nodeId).not.toBe(honestly.nodeId)
  const second = await connect(reenrolled, lie)
  await isNoCandidate('spoofer')
  expect(await refusedOf('spoofer')).toEqual([refusedAs('FR'), refusedAs(null)])
  second.agent.close()
  const third = await connect(await join('spoofer', { country: 'AT' }, lie), lie)
  await waits('data')
  expect((await refusedOf('spoofer')).at(-1)).toEqual(refusedAs('AT'))
  await isNoCandidate('spoofer')
  for (const { assigned } of [first, flipped, again, second, third]) expect([...assigned]).toEqual([])

  // A node whose join token attests the location qualifies at once.
  const berlin = await join('berlin', { country: 'DE' }, { [COUNTRY]: 'DE' })
  const inBerlin = await connect(berlin, { [COUNTRY]: 'DE' })
  await expect.poll(() => homeOf('data')).toEqual(['berlin'])
  await expect.poll(() => homeOf('near')).toEqual(['berlin'])
  await expect.poll(async () => (await statusOf('data'))['phase']).toBe('Running')

  // A label that contradicts the attested location moves the workloads off the node.
  inBerlin.agent.close()
  await connect(berlin, { [COUNTRY]: 'FR' })
  await expect
    .poll(() => statusOf('data'))
    .toMatchObject({ phase: 'Degraded', reason: 'residency_no_match', replicas: { placed: 0 } })
  await expect.poll(() => homeOf('data')).toEqual([])
  expect(await refusedOf('berlin')).toEqual([
    { refused: [{ label: COUNTRY, advertised: 'FR', attested: 'DE' }] },
  ])
  const displaced = (await eventsOf(acme, 'data')).filter(({ type }) => type === 'deployment.displaced')
  expect(displaced).toHaveLength(1)
  expect(displaced[0]).toMatchObject({
    reason: 'labels_changed',
    data: {
      nodeName: 'berlin',
      label: COUNTRY,
      required: { [COUNTRY]: 'DE' },
      reported: { [COUNTRY]: null },
    },
  })
})
