// What the agent asks of the server: an answer is for the question alone, and its seal for this node alone.

import { generateKeyPairSync } from 'node:crypto'
import type { Answer, AssignmentId, Call } from '@holdfast/contract'
import { expect, test, vi } from 'vitest'
import { publicKeyText } from '../state/node-state.ts'
import { sealFor } from './sealed.fixture.ts'
import { createServerCalls } from './server-calls.ts'

const key = generateKeyPairSync('x25519').privateKey
const ASSIGNMENT = 'rep_01JCPZ0000000000000000000A' as AssignmentId
const OTHER = 'rep_01JCPZ0000000000000000000B'
const CANARY = 'canary-5b1f0c'

/** A server that answers each call at once; gives what it was asked as well. */
function withServer(answer: (call: Call) => Partial<Answer>) {
  const asked: Call[] = []
  const calls = createServerCalls(key, (call) => {
    asked.push(call)
    queueMicrotask(() => calls.settle({ type: 'answer', id: call.id, ...answer(call) }))
    return true
  })
  return { calls, asked }
}
const sealed = (call: Call, over: object = {}) => ({
  sealed: sealFor(
    publicKeyText(key),
    JSON.stringify({
      ...{ assignmentId: call.assignmentId, attempt: call.attempt },
      ...{ environment: { DB_key: CANARY }, proof: 'p1', ...over },
    }),
  ),
})

test('an environment that was sealed for this container and this attempt is given', async () => {
  const { calls, asked } = withServer(sealed)
  for (const _ of [1, 2])
    expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
      ...{ kind: 'resolved', environment: { DB_key: CANARY }, proof: 'p1' },
    })
  expect(asked).toMatchObject([1, 2].map(() => ({ method: 'environment', assignmentId: ASSIGNMENT })))
  expect(new Set(asked.map(({ attempt }) => attempt)).size).toBe(2)
})

const notForUs = publicKeyText(generateKeyPairSync('x25519').privateKey)
test.each<[string, (call: Call) => Partial<Answer>]>([
  ['for another container', (call) => sealed(call, { assignmentId: OTHER })],
  ['for another attempt', (call) => sealed(call, { attempt: 'earlier' })],
  ['to another node', () => ({ sealed: sealFor(notForUs, '{}') })],
  ['as something else', (call) => sealed(call, { environment: { DB_key: 7 } })],
  ['as no JSON', () => ({ sealed: sealFor(publicKeyText(key), `${CANARY} {`) })],
  ['as nothing', () => ({})],
  ['and not whole', (call) => ({ sealed: sealed(call).sealed.slice(0, -4) })],
])('what was sealed %s is not used, and not quoted', async (_, answer) => {
  const { calls } = withServer(answer)
  expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
    ...{ kind: 'unresolved', about: 'answer_unusable' },
  })
})

test('why there is none is told as the server says it', async () => {
  const about = 'DB: denied'
  const refused = withServer(() => ({ error: 'secret_unresolved', about }))
  expect(await refused.calls.containerEnvironment(ASSIGNMENT)).toEqual({ kind: 'unresolved', about })
  const { calls } = withServer(() => ({ error: 'broker_unavailable' }))
  expect(await calls.containerEnvironment(ASSIGNMENT)).toEqual({
    ...{ kind: 'unresolved', about: 'broker_unavailable' },
  })
})

test('no session is no answer, and an answer that does not come is one', async () => {
  const unheard = createServerCalls(key, () => false)
  await expect(unheard.containerEnvironment(ASSIGNMENT)).rejects.toThrow('no session')
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

test('a credential of a registry is for that registry', async () => {
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
