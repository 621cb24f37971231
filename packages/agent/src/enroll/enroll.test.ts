// Enrollment from the node's side: the request, the saved state, and the explanation of a rejection.

import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { newTenant } from '../fixtures/agent.fixture.ts'
import { loadNodeState, publicKeyText } from '../state/node-state.ts'
import { enroll } from './enroll.ts'
import { explainNoAnswer } from './explain-enrollment.ts'

const TOKEN = 'hfj_once'

async function enrollAt(
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
  const outcome = await enrollWith(folder, `http://127.0.0.1:${portOf(server)}`)
  server.close()
  return { sent, outcome }
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port

const enrollWith = (folder: string, server: string): Promise<unknown> =>
  enroll({
    server,
    joinToken: TOKEN,
    nodeName: 'n1',
    labels: { zone: 'a' },
    folder,
    engine: 'unix:///run/docker.sock',
    engineVersion: { version: '29.0', apiVersion: '1.56' },
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  }).catch((error: unknown) => error)

const ENROLLED = { nodeId: 'node_01JCPZ0000000000000000000A', tenant: newTenant(), generation: 3 }
const sentKeys = (sent: string): string[] => {
  const { publicKey, encryptionKey } = JSON.parse(sent.slice(sent.indexOf('{')))
  return [publicKey, encryptionKey]
}
const keptKeys = async (folder: string): Promise<string[]> => {
  const state = await loadNodeState(folder)
  return state === undefined ? [] : [publicKeyText(state.identityKey), publicKeyText(state.encryptionKey)]
}

test('sends its public keys and saves the answer, but never the token', async () => {
  const { path } = makeTempFolder('enroll')
  const { sent, outcome } = await enrollAt(path, 201, ENROLLED)
  const [publicKey, encryptionKey] = await keptKeys(path)
  expect(outcome).toEqual(ENROLLED)
  expect(sent).toContain('POST /api/v1/nodes/enroll ')
  expect(JSON.parse(sent.slice(sent.indexOf('{')))).toEqual({
    nodeName: 'n1',
    joinToken: TOKEN,
    publicKey,
    encryptionKey,
    labels: { zone: 'a' },
    engine: { version: '29.0', apiVersion: '1.56' },
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  })
  const state = await loadNodeState(path)
  expect(state).toMatchObject({
    ...ENROLLED,
    nodeName: 'n1',
    capacity: { cpuMillis: 500, memoryBytes: 1024 },
  })
  expect(JSON.stringify(state)).not.toContain(TOKEN)
})

test('each enrollment has new keys, and the old ones stay valid until the server accepts it', async () => {
  const { path } = makeTempFolder('again')
  const first = await enrollAt(path, 201, ENROLLED)
  const refused = await enrollAt(path, 401, { code: 'join_token_invalid', why: 'It is spent.' })
  expect(await keptKeys(path)).toEqual(sentKeys(first.sent))
  const again = await enrollAt(path, 201, { ...ENROLLED, generation: 4 })
  expect(await keptKeys(path)).toEqual(sentKeys(again.sent))
  const all = [first, refused, again].flatMap(({ sent }) => sentKeys(sent))
  expect(new Set(all).size).toBe(6)
  expect((await loadNodeState(path))?.generation).toBe(4)
  // The keys of the earlier enrollment are deleted.
  expect(readdirSync(path).filter((name) => name.endsWith('.pem'))).toHaveLength(2)
})

test('rejects a node id that would escape the state folder', async () => {
  const { path } = makeTempFolder('outside')
  const { outcome } = await enrollAt(path, 201, { ...ENROLLED, nodeId: '../../node' })
  expect(String(outcome)).toContain('is malformed')
  expect(readdirSync(path)).toEqual([])
})

test('a rejected enrollment reports code, field, received and expected values, and saves nothing', async () => {
  const { path } = makeTempFolder('refused')
  const rejection = {
    code: 'field_type_invalid',
    field: 'labels.Zone',
    received: 'a\u001b[2Jb',
    expected: 'a label',
    why: 'It is none.',
    doc: '',
  }
  const second = { ...rejection, code: 'node_name_invalid', field: 'nodeName' }
  const { outcome } = await enrollAt(path, 422, { ...rejection, rejections: [rejection, second] })
  const lines = String(outcome).split('\n')
  expect(lines[0]).toContain('The server rejected the enrollment (422): field_type_invalid: It is none.')
  expect(lines.slice(1, 4)).toEqual(['  field: labels.Zone', '  received: a?[2Jb', '  expected: a label'])
  expect(lines[4]).toContain('node_name_invalid')
  expect(readdirSync(path)).toEqual([])
})

test('explains an answer that is not from a Holdfast server', async () => {
  const { path } = makeTempFolder('other')
  const { outcome } = await enrollAt(path, 404, { message: 'no such page' })
  expect(String(outcome)).toContain('answered with status 404, but not like a Holdfast server')
})

test('explains what to check when the server does not answer', async () => {
  const { path } = makeTempFolder('silent')
  const [plain, secure] = [createServer(), createTlsServer()]
  for (const server of [plain, secure])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const [plainPort, securePort] = [portOf(plain), portOf(secure)]
  expect(String(await enrollWith(path, `https://127.0.0.1:${plainPort}`))).toContain('begins with http://.')
  expect(String(await enrollWith(path, `http://127.0.0.1:${securePort}`))).toContain('begins with https://.')
  for (const server of [plain, secure]) server.close()
  const refused = String(await enrollWith(path, `http://127.0.0.1:${plainPort}`))
  expect(refused).toContain('does not answer (ECONNREFUSED). Check the address')
  expect(refused).not.toContain(TOKEN)
  expect(String(await enrollWith(path, 'localhost:8080'))).toContain('must begin with http:// or https://')
})

test('explains how to trust an untrusted certificate', () => {
  const error = Object.assign(new Error('no'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  expect(explainNoAnswer('https://hf.example.com', error)).toContain('--ca FILE')
})
