// Environment requests and reports of an agent over its session: only for the agent's own assignments, at a limited rate,
// and forwarded unchanged. Texts in reports must have a known form.

import { type Answer, type AssignmentId, ownerOf } from '@holdfast/contract'
import type { EnvironmentAsk, SealedAnswer } from '@holdfast/server/ports/broker'
import { readyObservation, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { observationOf } from '@holdfast/testkit/session/read-records'
import { addTenant, anAssignment, enroll, place } from '@holdfast/testkit/session/session-records'
import { expect, test } from 'vitest'

async function asking(sealEnvironment: (ask: EnvironmentAsk) => Promise<SealedAnswer>) {
  const broker = { sealEnvironment, sealCredential: async () => ({}) }
  const { store, url, gateway } = await gatewayForTest({ broker })
  const tenant = await addTenant(store)
  const [node, mate] = [await enroll(store, tenant), await enroll(store, tenant)]
  const [mine, stopped, theirs] = [
    anAssignment(node.nodeId),
    anAssignment(node.nodeId, { desired: 'stopped' }),
    anAssignment(mate.nodeId),
  ]
  const uid = await place(store, tenant, [mine, stopped, theirs])
  const agent = await openRaw(url, node)
  return { store, gateway, tenant, node, agent, mine, stopped, theirs, uid }
}

async function ask(agent: OpenAgent, call: object): Promise<Partial<Answer>> {
  agent.send(JSON.stringify({ type: 'call', id: 'c', method: 'environment', ...call }))
  const { type: _type, id: _id, ...answer } = await agent.next('answer')
  return answer
}

test("a node's request for its own running assignment reaches the broker, and the answer is relayed unchanged", async () => {
  const brokerRequests: EnvironmentAsk[] = []
  const answers: SealedAnswer[] = [
    { sealed: 'opaque ciphertext' },
    { error: 'secret_unresolved', about: 'DB: denied' },
    { error: 'already_answered' },
  ]
  const { tenant, node, agent, mine, stopped, theirs, uid } = await asking(async (one) => {
    brokerRequests.push(one)
    return answers[brokerRequests.length - 1] ?? {}
  })
  for (const expected of answers)
    expect(await ask(agent, { assignmentId: mine.id, attempt: 'one' })).toEqual(expected)
  const { nodeId } = node
  const sent = { tenant, nodeId, owner: ownerOf('deployment', uid), assignmentId: mine.id, attempt: 'one' }
  expect(brokerRequests).toEqual([sent, sent, sent])
  const missing = 'rep_01ARZ3NDEKTSV4RRFFQ69G5FAV' as AssignmentId
  for (const assignmentId of [stopped.id, theirs.id, missing])
    expect(await ask(agent, { assignmentId, attempt: 'one' })).toEqual({ error: 'not_assigned' })
  expect(await ask(agent, { assignmentId: mine.id })).toEqual({ error: 'not_answered_here' })
  expect(await ask(agent, { attempt: 'one' })).toEqual({ error: 'not_answered_here' })
  expect(brokerRequests).toHaveLength(3)
})

test('a broker that throws is reported as unavailable', async () => {
  const { agent, mine } = await asking(async () => {
    throw new Error('broker failed')
  })
  const answer = await ask(agent, { assignmentId: mine.id, attempt: 'one' })
  expect(answer).toEqual({ error: 'broker_unavailable' })
})

test('a node that sends too many requests is rejected, and the broker does not receive them', async () => {
  let brokerRequests = 0
  const { agent, mine } = await asking(async () => {
    brokerRequests += 1
    return { error: 'secret_unresolved' }
  })
  const answers = agent.heard.length
  for (let each = 0; each < 300; each += 1)
    agent.send({
      type: 'call',
      id: `c${each}`,
      method: 'environment',
      assignmentId: mine.id,
      attempt: `${each}`,
    })
  await waitUntil(() => agent.heard.length - answers >= 300, { what: 'every request is answered' })
  const errors = agent.heard.map((message) => (message.type === 'answer' ? message.error : ''))
  expect(brokerRequests).toBe(200)
  expect(errors.filter((error) => error === 'too_many_asks')).toHaveLength(100)
})

test('a report about secrets is stored if its text has the known form, and dropped if not', async () => {
  const { store, gateway, tenant, agent, mine } = await asking(async () => ({}))
  const [item] = agent.items.filter(({ assignmentId }) => assignmentId === mine.id)
  if (item === undefined) throw new Error('nothing is desired')
  let seq = 0
  const report = (changes: object) => {
    seq += 1
    const observation = { ...readyObservation(item, seq), restarts: seq, ...changes }
    agent.send({ type: 'status', session: agent.session, observations: [observation] })
  }
  const stored = () => observationOf(store, tenant, mine.id)
  report({ about: 'x'.repeat(201) })
  report({ about: 'not\nprintable' })
  report({ about: 'nöt ascii' })
  report({ proof: 'a'.repeat(65) })
  report({ proof: 'not base64url!' })
  report({ proof: '' })
  report({ about: 'DB: denied', state: 'pending', reason: 'secret_unresolved' })
  await waitUntil(stored, { what: 'a report is stored' })
  expect(gateway.counts.observations).toBe(1)
  expect(await stored()).toMatchObject({ restarts: 7, about: 'DB: denied', reason: 'secret_unresolved' })
  report({ proof: `${'a'.repeat(40)}-_9`, restarts: 7 })
  await waitUntil(async () => (await stored())?.proof !== undefined, {
    what: 'a change of the proof alone is stored',
  })
  report({ proof: `${'b'.repeat(40)}-_9`, restarts: 7 })
  await waitUntil(async () => (await stored())?.proof?.startsWith('b'), { what: 'another proof is stored' })
})
