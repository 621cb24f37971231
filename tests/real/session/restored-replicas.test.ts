// One server replica runs on what the store was before an operator declared it restored, because its watch is silent. Replicas
// of the restored store do not let it act for them, and it ends after the first call between both.

import { proveRequest } from '@holdfast/server/gateway/peers/cluster-proof'
import { declareRestored } from '@holdfast/server/operations/restore/declare-restored'
import { secret } from '@holdfast/server/ports/secret'
import { epochAddress } from '@holdfast/server/store/epoch'
import { requireEpoch } from '@holdfast/server/store/require-epoch'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { sharedEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { openRaw } from '@holdfast/testkit/session/raw-agent'
import { addTenant, enroll } from '@holdfast/testkit/session/session-records'
import { startTestGateway, type TestGatewayOptions } from '@holdfast/testkit/session/start-gateway'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

test('a server replica of the epoch before a restore is not used by those of the restored store, and ends', async () => {
  const { options, outdated, start } = await outdatedReplica()
  const tenant = await addTenant(outdated.store)
  const [node, other] = [await enroll(outdated.store, tenant), await enroll(outdated.store, tenant)]
  await openRaw(outdated.url, node)
  await openRaw(outdated.url, other)
  const before = outdated.store.get(epochAddress)?.record.epoch
  outdated.late.hold()
  const operator = await openTestStore(options)
  await declareRestored({ store: operator.store, clock, ids }, [])
  operator.close()

  const current = await start({ replica: 'server-2' })
  expect(outdated.store.fault).toBeUndefined()
  const ends: object[] = []
  const reader = { data() {}, room() {}, end: (end: object) => void ends.push(end) }
  current.gateway.openStream(tenant, other.nodeId, { kind: 'logs' }, reader)
  await waitUntil(() => ends.length > 0, { what: 'the stream ends' })
  expect(ends).toEqual([{ error: 'node_unreachable' }])
  const answer = await current.gateway.callNode(tenant, node.nodeId, 'containers')
  expect(answer).toEqual({ kind: 'unreachable' })
  expect(outdated.internalCalls).toEqual([expect.toBeOneOf([409, 503])])
  await waitUntil(() => outdated.store.fault !== undefined, { what: 'the outdated replica ends' })
  expect(outdated.store.fault).toContain('declared it restored')

  const path = `/internal/nodes/${node.nodeId}/call`
  const statusOf = async (epoch?: string) => {
    const body = JSON.stringify({ tenant, method: 'silence', epoch })
    const authorization = proveRequest(secret('one cluster'), clock, { method: 'POST', path, body })
    return (await current.gateway.internalCallHandler({ headers: { authorization }, path, body })).status
  }
  expect(await statusOf(before)).toBe(409)
  expect(await statusOf(current.store.get(epochAddress)?.record.epoch)).toBe(200)
  // A replica of an older version sends no epoch.
  expect(await statusOf()).toBe(200)
  expect(current.store.fault).toBeUndefined()
})

async function outdatedReplica() {
  const { endpoints } = await sharedEtcd()
  const options = { endpoints, root: `/${uniqueName('restored')}`, deadlineMs: 5_000 }
  const first = await openTestStore(options)
  await requireEpoch(first.store, { clock, ids })
  first.close()
  const start = async (others: Partial<TestGatewayOptions>) => {
    const gateway = await startTestGateway({ ...options, ...others })
    onTestFinished(() => gateway.stop())
    return gateway
  }
  const late = createHeldWatch()
  const outdated = { ...(await start({ replica: 'server-1', wrap: late.wrap })), late }
  return { options, outdated, start }
}
