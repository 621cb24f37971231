// Reports that a node sends about its containers, and which of these reports the server stores.

import { type DesiredState, MAX_CAUSE_BYTES, type Observation, ownerOf } from '@holdfast/contract'
import { readyObservation, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { observationOf } from '@holdfast/testkit/session/read-records'
import { addTenant, anAssignment, enroll, place } from '@holdfast/testkit/session/session-records'
import { expect, test } from 'vitest'

async function oneAssignment(desired: DesiredState = 'running') {
  const test = await gatewayForTest()
  const tenant = await addTenant(test.store)
  const node = await enroll(test.store, tenant)
  const assignment = anAssignment(node.nodeId, { desired })
  const uid = await place(test.store, tenant, [assignment])
  const agent = await openRaw(test.url, node)
  const [item] = agent.items
  if (item === undefined) throw new Error('nothing is assigned')
  const stored = () => observationOf(test.store, tenant, assignment.id)
  const seen = (seq: number, changes: Partial<Observation> = {}): Observation => ({
    ...readyObservation(item, seq),
    ...changes,
  })
  return { ...test, tenant, node, assignment, uid, agent, stored, seen }
}

const report = (agent: OpenAgent, ...observations: Observation[]) =>
  agent.send({ type: 'status', session: agent.session, observations })

test('reports are stored unchanged, and only newer ones', async () => {
  const { agent, stored, seen, gateway, node, uid } = await oneAssignment()
  report(agent, seen(5, { state: 'starting' }))
  await waitUntil(async () => (await stored())?.state === 'starting', { what: 'it is stored' })
  report(agent, seen(4, { state: 'pulling' }), seen(5, { state: 'failed' }))
  report(agent, seen(6))
  await waitUntil(async () => (await stored())?.state === 'ready', { what: 'the newer one is stored' })
  expect(await stored()).toMatchObject({ ...seen(6), nodeId: node.nodeId, owner: ownerOf('deployment', uid) })
  expect(gateway.counts).toMatchObject({ observations: 2, statusWrites: 2 })
})

test('a report without changes is not written again', async () => {
  const { agent, stored, seen, gateway, url, node } = await oneAssignment()
  report(agent, seen(1))
  await waitUntil(stored, { what: 'it is stored' })
  report(agent, seen(2))
  report(agent, seen(3, { restarts: 1 }))
  await waitUntil(async () => (await stored())?.restarts === 1, { what: 'the change is stored' })
  const again = await openRaw(url, node)
  // Report numbers start again in a new session; the server accepts them, because the newer session wins.
  report(again, seen(1, { restarts: 1 }))
  report(again, seen(2, { restarts: 2 }))
  await waitUntil(async () => (await stored())?.restarts === 2, { what: 'the change is stored' })
  expect(gateway.counts.statusWrites).toBe(3)
})

test('each change of the last exit, the cause and the failed checks is stored', async () => {
  const { agent, stored, seen } = await oneAssignment()
  const at = '2026-01-01T00:00:00Z'
  const failures: Partial<Observation>[] = [
    { lastExit: { code: 137, signal: 'SIGKILL', at } },
    { lastExit: { code: 137, signal: 'SIGKILL', oomKilled: true, oomLimitBytes: 6_291_456, at } },
    { lastExit: { code: 137, at }, cause: 'ü'.repeat(MAX_CAUSE_BYTES / 2), failedChecks: 1 },
    { lastExit: { code: 137, at }, cause: 'wget: not found', failedChecks: 1 },
    { lastExit: { code: 137, at }, cause: 'wget: not found', failedChecks: 2 },
  ]
  for (const [index, failure] of failures.entries()) {
    report(agent, seen(index + 1, failure))
    await waitUntil(async () => (await stored())?.seq === index + 1, { what: 'it is stored' })
    const { lastExit, cause, failedChecks } = (await stored()) ?? {}
    expect({ lastExit, cause, failedChecks }).toEqual({
      cause: undefined,
      failedChecks: undefined,
      ...failure,
    })
  }
})

test('a report of another generation is stored only if it is newer and was sent to the node', async () => {
  const { agent, stored, seen, gateway } = await oneAssignment('stopped')
  report(agent, seen(1, { generation: 3 }))
  report(agent, seen(2, { generation: 2, state: 'stopping' }))
  await waitUntil(stored, { what: 'it is stored' })
  report(agent, seen(9, { generation: 1 }))
  report(agent, seen(10))
  await waitUntil(async () => (await stored())?.state === 'stopped', { what: 'it is stored' })
  expect(gateway.counts.observations).toBe(2)
})

test("reports about other nodes' or unknown assignments and malformed reports are not stored", async () => {
  const { agent, stored, seen, store, tenant, gateway } = await oneAssignment()
  const sibling = await enroll(store, tenant)
  const theirs = anAssignment(sibling.nodeId)
  await place(store, tenant, [theirs])
  report(
    agent,
    seen(1, { assignmentId: theirs.id }),
    seen(1, { assignmentId: anAssignment(sibling.nodeId).id }),
    seen(1, { reason: 'x'.repeat(10_000) }),
    seen(1, { reason: '\u001b[31m' }),
    seen(1, { seq: 1e300 }),
    seen(1, { cause: 'x'.repeat(MAX_CAUSE_BYTES + 1) }),
    seen(1, { cause: 'two\nlines' }),
    seen(1, { failedChecks: 1e300 }),
    seen(1, { lastExit: { code: 1, signal: 'x'.repeat(10_000), at: '' } }),
    seen(1, { lastExit: { code: 1, at: '\u001b[31m' } }),
    seen(1, { state: 'splendid' as Observation['state'] }),
  )
  report(agent, seen(2))
  await waitUntil(stored, { what: 'the valid one is stored' })
  expect(await observationOf(store, tenant, theirs.id)).toBeUndefined()
  expect(gateway.counts.observations).toBe(1)
})

test.each(['running', 'stopped'] as const)(
  'a replica with desired state %s is not gone because its node reports it gone',
  async (desired) => {
    const { agent, stored, seen, gateway } = await oneAssignment(desired)
    report(agent, seen(1, { state: 'stopped', gone: true }))
    report(agent, seen(2))
    await waitUntil(stored, { what: 'the valid report is stored' })
    expect(await stored()).toMatchObject({ seq: 2, gone: false })
    expect(gateway.counts.observations).toBe(1)
  },
)

test('a replica with desired state removed is gone when its node reports it gone', async () => {
  const { agent, stored, seen } = await oneAssignment('removed')
  report(agent, seen(1))
  expect(await waitUntil(stored, { what: 'it is stored' })).toMatchObject({ gone: true })
})

test('messages with another session number change nothing', async () => {
  const { agent, stored, seen, gateway } = await oneAssignment()
  agent.send({ type: 'status', session: agent.session + 1, observations: [seen(1, { state: 'failed' })] })
  agent.send({ type: 'status', session: agent.session - 1, observations: [seen(2, { state: 'failed' })] })
  report(agent, seen(3))
  await waitUntil(stored, { what: 'the right one is stored' })
  expect((await stored())?.state).toBe('ready')
  expect(gateway.counts.observations).toBe(1)
})

test('a report does not restore an assignment that has been dropped', async () => {
  const { agent, stored, seen, store, tenant, uid } = await oneAssignment()
  await place(store, tenant, [], uid)
  expect((await agent.next('delta')).gone).toHaveLength(1)
  report(agent, seen(1))
  agent.send({ type: 'call', id: 'after', method: 'registry', host: 'x' })
  await agent.next('answer')
  expect(await stored()).toBeUndefined()
})

test('hundreds of reports in one message are stored in few transactions', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  for (let index = 0; index < 4; index += 1)
    await place(
      store,
      tenant,
      Array.from({ length: 50 }, () => anAssignment(node.nodeId)),
    )
  const agent = await openRaw(url, node)
  report(agent, ...agent.items.map((item) => readyObservation(item, 1)))
  const ids = agent.items.map(({ assignmentId }) => assignmentId)
  await waitUntil(
    async () => (await Promise.all(ids.map((id) => observationOf(store, tenant, id)))).every(Boolean),
    { what: 'all are stored' },
  )
  expect(gateway.counts).toMatchObject({ observations: 200, statusWrites: 4 })
})
