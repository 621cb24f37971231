// Draining a node over HTTP: the node is cordoned at once, an event is emitted, and the drain ends when the node is
// empty.

import type { NodeId, TenantId } from '@holdfast/contract'
import { stageDrained } from '@holdfast/server/operations/nodes/drain-node'
import { realClock as clock } from '@holdfast/server/system-clock'
import { assign } from '@holdfast/testkit/nodes/assign'
import { enroll, enrollment, joinToken, makeNode } from '@holdfast/testkit/nodes/enroll'
import { typesOf } from '@holdfast/testkit/nodes/read-events'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const NODES = '/api/v1/nodes'

let platform: Platform
let acme: ApiClient
beforeAll(async () => {
  platform = await ownPlatform()
  acme = platform.api(platform.acme.token)
})
afterAll(() => platform.stop())

const store = () => platform.server.store
const node = (name: string) => makeNode(platform.baseUrl, acme, name)
const drain = (id: string, headers = {}) => acme.send('POST', `${NODES}/${id}/drain`, undefined, headers)
const read = async (id: string) => (await acme.get(`${NODES}/${id}`)).body
/** Ends the drain of a node if the node is empty, as a controller does after an assignment has left. */
const recheckDrain = (id: string): Promise<boolean> =>
  store().transact((transaction) =>
    stageDrained({ store: store(), clock }, transaction, platform.acme.id as TenantId, id as NodeId),
  )

test('a node without replicas is drained at once and stays cordoned until it is uncordoned', async () => {
  const id = await node('empty')
  const answer = await drain(id)
  expect([answer.status, answer.body['schedulable'], answer.body['draining']]).toEqual([202, false, true])
  expect(await read(id)).toMatchObject({ schedulable: false })
  expect((await read(id))['draining']).toBeUndefined()
  expect(await typesOf(acme, 'empty')).toEqual([
    'node.enrolled enrolled',
    'node.cordoned draining',
    'node.drained drained',
  ])
  const audit: { action: string; subject: object }[] = Object((await acme.get('/api/v1/audit')).body['items'])
  expect(audit.at(0)).toMatchObject({ action: 'nodes:drained', subject: { kind: 'Node', name: 'empty' } })
  expect((await acme.post(`${NODES}/${id}/uncordon`, undefined)).body['schedulable']).toBe(true)
})

test('a node with a replica is draining until the replica is gone, and emits one event', async () => {
  const id = await node('busy')
  const assigned = await assign(store(), platform.acme.id, id)
  const first = await drain(id)
  expect([first.status, first.body['draining'], first.body['schedulable']]).toEqual([202, true, false])
  expect((await drain(id)).body['draining']).toBe(true)
  expect((await acme.post(`${NODES}/${id}/cordon`, undefined)).body['draining']).toBe(true)
  expect(await recheckDrain(id)).toBe(false)
  expect(await read(id)).toMatchObject({ draining: true })
  await assigned.gone()
  expect([await recheckDrain(id), await recheckDrain(id)]).toEqual([true, false])
  expect((await read(id))['draining']).toBeUndefined()
  expect(await typesOf(acme, 'busy')).toEqual([
    'node.enrolled enrolled',
    'node.cordoned draining',
    'node.drained drained',
  ])
})

test('a cordoned node can be drained, uncordon ends the drain, and a node that enrolls again continues it', async () => {
  const id = await node('cordoned')
  const assigned = await assign(store(), platform.acme.id, id)
  await acme.post(`${NODES}/${id}/cordon`, undefined)
  expect((await drain(id)).body['draining']).toBe(true)
  await enroll(platform.baseUrl, enrollment('cordoned', await joinToken(acme, 'cordoned')))
  expect(await read(id)).toMatchObject({ draining: true, schedulable: false })
  const opened = await acme.post(`${NODES}/${id}/uncordon`, undefined)
  expect([opened.body['draining'], opened.body['schedulable']]).toEqual([undefined, true])
  expect(await recheckDrain(id), 'the drain has ended').toBe(false)
  await assigned.gone()
})

test('only a tenant-admin drains nodes of the own tenant, and once per Idempotency-Key', async () => {
  const id = await node('own')
  const globex = platform.api(platform.globex.token)
  expect((await globex.send('POST', `${NODES}/${id}/drain`)).codes).toEqual(['node_not_found'])
  const developer = platform.api(await makeToken(platform.api(), platform.acme.id, 'developer'))
  expect((await developer.send('POST', `${NODES}/${id}/drain`)).codes).toEqual(['permission_denied'])
  const key = { 'idempotency-key': 'drain-once' }
  expect((await drain(id, key)).status).toBe(202)
  await acme.post(`${NODES}/${id}/uncordon`, undefined)
  expect((await drain(id, key)).status).toBe(202)
  expect((await read(id))['schedulable'], 'the second was the first').toBe(true)
})
