// Brokers as separate processes. Only brokers have an identity that can read secrets; the API and the gateway call the
// brokers. Some brokers are killed, and the others continue.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, AssignmentId, NodeId, TenantId } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import { proveRequest } from '@holdfast/server/gateway/peers/cluster-proof'
import { secret } from '@holdfast/server/ports/secret'
import { serverReplicas } from '@holdfast/server/store/records'
import { realClock } from '@holdfast/server/system-clock'
import {
  freePort,
  makeSimulatedKeys,
  makeTempFolder,
  sharedSecretsStore,
  uniqueName,
  waitUntil,
} from '@holdfast/testkit'
import { enroll, enrollment, joinToken } from '@holdfast/testkit/nodes/enroll'
import { provision } from '@holdfast/testkit/platform/set-up'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { opened, placeOn, putVersion, secretEntry } from '@holdfast/testkit/secrets/dispatch-world'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, '../../../packages/server/src/main.ts')
const KEY = randomBytes(32).toString('base64url')
const CANARY = `canary-${uniqueName('value')}`
const folder = makeTempFolder('brokers')

interface BrokerProcess {
  readonly process: ChildProcess
  readonly url: string
  readonly output: string[]
}

let platform: Platform
let identities: Awaited<ReturnType<typeof provision>>
const brokers: BrokerProcess[] = []

beforeAll(async () => {
  const { address, rootToken } = await sharedSecretsStore()
  identities = await provision(address, rootToken)
  platform = await startPlatform({
    settings: {
      roles: ['api', 'gateway'],
      cluster: { key: KEY },
      secretsStore: { address, api: identities.api },
    },
  })
})
afterAll(async () => {
  for (const { process } of brokers) process.kill('SIGKILL')
  await platform.stop()
  folder.remove()
})

async function startBroker(): Promise<BrokerProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const file = join(folder.path, `${port}.json`)
  const { etcd, secretsStore, registries } = platform.config
  const settings = {
    listen: { host: '127.0.0.1', port },
    publicUrl: url,
    cluster: { key: KEY },
    etcd: { endpoints: etcd.endpoints, root: etcd.root },
    registries,
    secretsStore: { address: secretsStore.address, broker: identities.broker },
  }
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 })
  const child = spawn(process.execPath, [MAIN, 'serve', '--roles', 'broker', '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  const started = { process: child, url, output }
  brokers.push(started)
  await waitUntil(() => known(url), { what: 'the broker is known to the others', timeoutMs: 30_000 })
  return started
}

const known = (url: string): boolean =>
  platform.server.store
    .listWithIds(serverReplicas)
    .some(({ record }) => record.brokers === true && record.url === url)

async function kill({ process }: BrokerProcess): Promise<void> {
  const gone = once(process, 'exit')
  process.kill('SIGKILL')
  await gone
}

const deploy = async (name: string) =>
  platform.api(platform.acme.token).post('/api/v1/deployments', {
    kind: 'Deployment',
    name,
    image: platform.image,
    replicas: 0,
  })

/** Creates a node with its session, and an assignment whose container needs a secret. */
async function aNode() {
  const tenant = platform.acme.id as TenantId
  const keys = makeSimulatedKeys()
  const name = uniqueName('node')
  const { publicKey, encryptionKey } = keys
  const token = await joinToken(platform.api(platform.acme.token), name)
  const { body } = await enroll(platform.baseUrl, enrollment(name, token, { publicKey, encryptionKey }))
  const node = { ...keys, tenant, nodeId: String(body['nodeId']) as NodeId, generation: 1 }
  const { store } = platform.server
  await putVersion(store, connectSecretsWriter(platform.config), tenant, 'db', { password: CANARY })
  const { assignmentId } = await placeOn(store, node, { secrets: [secretEntry('DB', 'db')] })
  const agent = await openRaw(platform.baseUrl, node)
  return { node, agent, assignmentId }
}

let attempts = 0
async function ask(
  agent: OpenAgent,
  assignmentId: AssignmentId,
  attempt = `attempt-${attempts}`,
): Promise<Answer> {
  attempts += 1
  agent.send({ type: 'call', id: `call-${attempts}`, method: 'environment', assignmentId, attempt })
  const answer = await agent.next('answer')
  expect(answer.id).toBe(`call-${attempts}`)
  return answer
}

test('an API without the identity that reads secrets works through brokers, and continues as long as one is left', {
  timeout: 180_000,
}, async () => {
  expect(platform.config.secretsStore.broker).toBeUndefined()
  const unreachable = await deploy('unreachable')
  expect(unreachable.status, unreachable.text).toBe(201)
  expect(unreachable.text).toContain('broker_unavailable')
  const { node, agent, assignmentId } = await aNode()
  expect(await ask(agent, assignmentId)).toMatchObject({ error: 'broker_unavailable' })

  const [first, second] = await Promise.all([startBroker(), startBroker()])
  const resolved = await deploy('resolved')
  expect(resolved.text).toContain('image_digest_resolved')
  const answer = await ask(agent, assignmentId, 'twice')
  expect(opened(node, answer).environment).toEqual({ DB_password: CANARY })
  expect(await ask(agent, assignmentId, 'twice')).toMatchObject({ error: 'already_answered' })
  expect(await ask(agent, 'rep_01ARZ3NDEKTSV4RRFFQ69G5FAV' as AssignmentId)).toMatchObject({
    error: 'not_assigned',
  })

  await waitUntil(() => brokers.some(({ output }) => output.join('').includes('ALARM')), {
    what: 'the second request raises an alarm',
  })

  // A stopped broker does not answer: after a deadline the caller tries another broker and avoids the stopped one.
  first.process.kill('SIGSTOP')
  expect(opened(node, await ask(agent, assignmentId)).environment).toEqual({ DB_password: CANARY })
  await kill(first)
  for (let each = 0; each < 3; each += 1)
    expect(opened(node, await ask(agent, assignmentId)).environment).toEqual({ DB_password: CANARY })
  expect((await deploy('with-one')).text).toContain('image_digest_resolved')
  await kill(second)
  expect(await ask(agent, assignmentId)).toMatchObject({ error: 'broker_unavailable' })
  const third = await startBroker()
  expect(opened(node, await ask(agent, assignmentId)).environment).toEqual({ DB_password: CANARY })

  const logged = [...platform.logLines, ...brokers.flatMap(({ output }) => output)].join('')
  expect(logged).not.toContain(CANARY)
  const { status } = await fetch(`${third.url}/api/v1/deployments`)
  expect(status).not.toBe(200)
  agent.close()
})

test('a broker serves only members of the cluster, and a process without the broker role returns nothing', async () => {
  const { url } = brokers.at(-1) ?? (await startBroker())
  const path = '/internal/broker/image'
  const body = JSON.stringify({ tenant: platform.acme.id, image: platform.image })
  const post = async (base: string, key: string, sent = body, to = path) => {
    const authorization = proveRequest(secret(key), realClock, { method: 'POST', path: to, body: sent })
    const answer = await fetch(base + to, { method: 'POST', headers: { authorization }, body: sent })
    return [answer.status, await answer.json()]
  }
  expect(await post(url, KEY)).toMatchObject([200, { kind: 'exists' }])
  expect(await post(url, 'another key of the right length, or so')).toEqual([401, {}])
  expect(await post(url, KEY, '{"tenant": 1}')).toEqual([400, {}])
  // A newer server may send members that this broker does not know.
  expect(await post(url, KEY, `${body.slice(0, -1)},"more":1}`)).toMatchObject([200, { kind: 'exists' }])
  expect(await post(url, KEY, body, '/internal/broker/everything')).toEqual([400, {}])
  expect(await post(platform.baseUrl, KEY)).toEqual([404, {}])
})
