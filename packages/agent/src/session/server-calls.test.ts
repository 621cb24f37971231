// Calls of the agent to the server: an answer is accepted only for its own call and only if it is sealed to this node.

import { generateKeyPairSync } from 'node:crypto'
import { type Answer, type AssignmentId, asNodeId, asVolumeId, type Call } from '@holdfast/contract'
import { expect, test, vi } from 'vitest'
import { publicKeyText } from '../state/node-state.ts'
import { sealFor } from './sealed.fixture.ts'
import { createServerCalls } from './server-calls.ts'

const key = generateKeyPairSync('x25519').privateKey
const ASSIGNMENT = 'rep_01JCPZ0000000000000000000A' as AssignmentId
const OTHER = 'rep_01JCPZ0000000000000000000B'
const CANARY = 'canary-5b1f0c'

/** A simulated server that answers each call at once, and the list of calls that it received. */
function withServer(answer: (call: Call) => Partial<Answer>) {
  const received: Call[] = []
  const calls = createServerCalls(key, (call) => {
    received.push(call)
    queueMicrotask(() => calls.settle({ type: 'answer', id: call.id, ...answer(call) }))
    return true
  })
  return { calls, received }
}
const sealed = (call: Call, over: object = {}) => ({
  sealed: sealFor(
    publicKeyText(key),
    JSON.stringify({
      assignmentId: call.assignmentId,
      attempt: call.attempt,
      environment: { DB_key: CANARY },
      proof: 'p1',
      ...over,
    }),
  ),
})

test('returns an environment that is sealed for this container and attempt', async () => {
  const { calls, received } = withServer(sealed)
  for (const _ of [1, 2])
    expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
      kind: 'resolved',
      environment: { DB_key: CANARY },
      proof: 'p1',
    })
  expect(received).toMatchObject([1, 2].map(() => ({ method: 'environment', assignmentId: ASSIGNMENT })))
  expect(new Set(received.map(({ attempt }) => attempt)).size).toBe(2)
})

const otherNodeKey = publicKeyText(generateKeyPairSync('x25519').privateKey)
test.each<[string, (call: Call) => Partial<Answer>]>([
  ['is sealed for another container', (call) => sealed(call, { assignmentId: OTHER })],
  ['is sealed for another attempt', (call) => sealed(call, { attempt: 'earlier' })],
  ['is sealed to another node', () => ({ sealed: sealFor(otherNodeKey, '{}') })],
  ['has the wrong type', (call) => sealed(call, { environment: { DB_key: 7 } })],
  ['is not JSON', () => ({ sealed: sealFor(publicKeyText(key), `${CANARY} {`) })],
  ['is missing', () => ({})],
  ['is truncated', (call) => ({ sealed: sealed(call).sealed.slice(0, -4) })],
])('neither uses nor quotes an environment that %s', async (_, answer) => {
  const { calls } = withServer(answer)
  expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
    kind: 'unresolved',
    about: 'answer_unusable',
  })
})

test('reports why an environment is unavailable as the server stated it', async () => {
  const about = 'DB: denied'
  const refused = withServer(() => ({ error: 'secret_unresolved', about }))
  expect(await refused.calls.containerEnvironment(ASSIGNMENT)).toEqual({ kind: 'unresolved', about })
  const { calls } = withServer(() => ({ error: 'broker_unavailable' }))
  expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
    kind: 'unresolved',
    about: 'broker_unavailable',
  })
})

test('a call without a session fails, and a call without an answer is unresolved', async () => {
  const disconnected = createServerCalls(key, () => false)
  await expect(disconnected.containerEnvironment(ASSIGNMENT)).rejects.toThrow('no session')
  const silent = createServerCalls(key, () => true)
  const ended = silent.containerEnvironment(ASSIGNMENT)
  silent.abandon()
  await expect(ended).rejects.toThrow('no session')
  vi.useFakeTimers()
  try {
    const late = silent.containerEnvironment(ASSIGNMENT)
    vi.advanceTimersByTime(10_000)
    expect(await late).toEqual({ kind: 'unresolved', about: 'no_answer' })
  } finally {
    vi.useRealTimers()
  }
})

test('rejects a registry credential that is for another registry', async () => {
  const credential = (host: string) => ({
    sealed: sealFor(publicKeyText(key), JSON.stringify({ host, username: 'u', password: CANARY })),
  })
  const { calls } = withServer(({ host = '' }) => credential(host))
  expect(await calls.registryCredential('r.example.com')).toEqual({ username: 'u', password: CANARY })
  const other = withServer(() => credential('evil.example.com'))
  await expect(other.calls.registryCredential('r.example.com')).rejects.toThrow('for another registry')
  const none = withServer(() => ({}))
  expect(await none.calls.registryCredential('r.example.com')).toBeUndefined()
})

test('returns committed configurations, and rejects if their outcome is unknown', async () => {
  const volume = asVolumeId('vol_01JCPZ0000000000000000000A')
  const nodeId = asNodeId('node_01JCPZ0000000000000000000A')
  const stored = { volume, epoch: 2, primary: nodeId, promotable: [], cv: 4 }
  const requests = [{ kind: 'shrink', volume, epoch: 2, nodeId } as const]
  const { calls, received } = withServer(() => ({ configurations: [stored] }))
  expect(await calls.configure(requests)).toEqual([stored])
  expect(received).toMatchObject([{ method: 'configure', requests }])
  const busy = withServer(() => ({ error: 'store_unavailable' }))
  await expect(busy.calls.configure(requests)).rejects.toThrow('store_unavailable')
  await expect(createServerCalls(key, () => false).configure(requests)).rejects.toThrow('no session')
})
