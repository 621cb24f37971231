// The change stream over HTTP: what it names, how it resumes, and that it ends with its credential.

import { type ChangeStreamItem, createClient } from '@holdfast/client'
import type { ChangedRecord } from '@holdfast/contract'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.stop())

interface Reader {
  readonly items: ChangeStreamItem[]
  named(): string[]
  stop(): void
}

/** Reads the stream until `stop`. */
function read(token: string, options: { after?: string } = {}): Reader {
  const items: ChangeStreamItem[] = []
  const controller = new AbortController()
  const client = createClient({ baseUrl: platform.baseUrl, token })
  const run = async () => {
    for await (const item of client.followChanges({ ...options, signal: controller.signal })) items.push(item)
  }
  void run()
  const shown = ({ resource, name, gone }: ChangedRecord) =>
    `${gone === true ? 'gone ' : ''}${resource} ${name}`
  return {
    items,
    named: () => items.flatMap((item) => (item.kind === 'changes' ? item.items.map(shown) : [])),
    stop: () => controller.abort(),
  }
}

const isLive = ({ items }: Reader) => items.some(({ kind }) => kind === 'current')

const create = (name: string, token = platform.acme.token) =>
  platform
    .api(token)
    .post('/api/v1/deployments', { kind: 'Deployment', name, image: platform.image, replicas: 0 })

test('names what a write changes, to the readers of its tenant only', async () => {
  const [mine, theirs] = [read(platform.acme.token), read(platform.globex.token)]
  await expect.poll(() => [isLive(mine), isLive(theirs)]).toEqual([true, true])
  expect((await create('web')).status).toBe(201)
  await expect
    .poll(mine.named)
    .toEqual(expect.arrayContaining(['deployments web', 'quotas deployments', 'events ', 'audit ']))
  const api = platform.api(platform.acme.token)
  expect((await api.put('/api/v1/secrets/resources/orders', { values: { key: 'v' } })).status).toBe(200)
  await expect.poll(mine.named).toContain('secrets resources/orders')
  await create('theirs', platform.globex.token)
  await expect.poll(theirs.named).toContain('deployments theirs')
  expect(theirs.named().join()).not.toMatch(/web|orders/)
  expect(mine.named().join()).not.toContain('theirs')
  mine.stop()
  theirs.stop()
})

test('sends signs of life while nothing changes', async () => {
  const reader = read(platform.acme.token)
  await expect.poll(() => isLive(reader)).toBe(true)
  const before = reader.items.length
  await expect.poll(() => reader.items.length).toBeGreaterThan(before)
  reader.stop()
})

test('continues after the last id, and asks for everything after an id that it does not know', async () => {
  const first = read(platform.acme.token)
  await expect.poll(() => isLive(first)).toBe(true)
  const after = String(platform.server.store.revision)
  await create('later')
  const resumed = read(platform.acme.token, { after })
  await expect.poll(resumed.named).toContain('deployments later')
  expect(resumed.items.some(({ kind }) => kind === 'resync')).toBe(false)
  for (const unknown of ['1', '999999999']) {
    const lost = read(platform.acme.token, { after: unknown })
    await expect.poll(() => lost.items.map(({ kind }) => kind)).toContain('resync')
    lost.stop()
  }
  const malformed = await platform
    .api(platform.acme.token)
    .get('/api/v1/changes/stream', { 'last-event-id': '1-0' })
  expect(malformed.codes).toEqual(['header_invalid'])
  first.stop()
  resumed.stop()
})

test('ends when its token is revoked', async () => {
  const token = await makeToken(platform.api(), platform.acme.id, 'viewer')
  const reader = read(token)
  await expect.poll(() => isLive(reader)).toBe(true)
  const { body } = await platform.api(token).get('/api/v1/me')
  const tokens = `/api/v1/tenants/${platform.acme.id}/tokens/${Object(body['token']).id}`
  expect((await platform.api(platform.acme.token).delete(tokens)).status).toBe(202)
  await expect.poll(() => reader.items.at(-1)?.kind).toBe('failed')
})
