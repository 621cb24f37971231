// Enrolment from the node's side: what is sent, what is kept, and what is said when the server says no.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { newTenant } from './agent.fixture.ts'
import { enrol } from './enrol.ts'
import { ensureNodeKeys, loadNodeState, publicKeyText } from './node-state.ts'

const TOKEN = 'hfj_once'

async function enrolAt(
  folder: string,
  status: number,
  answer: object,
): Promise<{ sent: string; outcome: unknown }> {
  let sent = ''
  const server = createServer(async (request, response) => {
    sent = `${request.method} ${request.url} ${await text(request)}`
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outcome = await enrol({
    server: `http://127.0.0.1:${port}`,
    joinToken: TOKEN,
    nodeName: 'n1',
    labels: { zone: 'a' },
    folder,
    engine: 'unix:///run/docker.sock',
    engineVersion: { version: '29.0', apiVersion: '1.56' },
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  }).catch((error: unknown) => error)
  server.close()
  return { sent, outcome }
}

test('sends the public halves of its keys and keeps what the server answers, never the token', async () => {
  const { path } = makeTempFolder('enrol')
  const enrolled = { nodeId: 'node_01JCPZ0000000000000000000A', tenant: newTenant(), generation: 3 }
  const { sent, outcome } = await enrolAt(path, 201, enrolled)
  const keys = await ensureNodeKeys(path)
  expect(outcome).toEqual(enrolled)
  expect(sent).toContain('POST /api/v1/nodes/enroll ')
  expect(JSON.parse(sent.slice(sent.indexOf('{')))).toEqual({
    nodeName: 'n1',
    joinToken: TOKEN,
    publicKey: publicKeyText(keys.identityKey),
    encryptionKey: publicKeyText(keys.encryptionKey),
    labels: { zone: 'a' },
    engine: { version: '29.0', apiVersion: '1.56' },
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  })
  const state = await loadNodeState(path)
  expect(state).toMatchObject({
    ...enrolled,
    nodeName: 'n1',
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  })
  expect(JSON.stringify(state)).not.toContain(TOKEN)
})

test('a refusal is told with its code, and nothing is kept but the keys', async () => {
  const { path } = makeTempFolder('refused')
  const { outcome } = await enrolAt(path, 401, { code: 'join_token_invalid', why: 'It is spent.' })
  expect(String(outcome)).toContain('join_token_invalid: It is spent.')
  expect(await loadNodeState(path)).toBeUndefined()
})
