// Tests the registry client with a real registry: present and absent images, accounts, moved tags, a hung registry.

import {
  type Registry as Engine,
  freePort,
  sharedRegistry,
  startRegistry,
  uniqueName,
} from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Registry } from '../../ports/registry.ts'
import { secret } from '../../ports/secret.ts'
import { createRegistryClient } from './registry-client.ts'

const PASSWORD = 'canary-registry-password'
const account = { username: 'robot', password: secret(PASSWORD) }
const UNKNOWN_DIGEST = `sha256:${'0'.repeat(64)}`

let open: Engine
let closed: Engine
let client: Registry

beforeAll(async () => {
  open = await sharedRegistry()
  closed = await startRegistry({ htpasswd: { username: 'robot', password: PASSWORD } })
  client = clientFor(open.host, closed.host)
})
afterAll(async () => {
  client.close()
  await closed.stop()
})

function clientFor(...hosts: string[]): Registry {
  const entries = hosts.map((host) => ({ host, plainHttp: true, allowAddress: true }))
  return createRegistryClient({ allowList: entries })
}

test('a pushed image exists under its tag and under its digest', async () => {
  const repository = uniqueName('app')
  const { digest } = await open.pushSampleImage(repository, '1.0')
  const query = { host: open.host, repository }
  expect(await client.checkManifest({ ...query, reference: '1.0' })).toEqual({ kind: 'exists', digest })
  expect(await client.checkManifest({ ...query, reference: digest })).toEqual({ kind: 'exists', digest })
})

test('an unknown tag, digest or repository is absent, and so is a deleted image', async () => {
  const repository = uniqueName('app')
  const { digest } = await open.pushSampleImage(repository, '1.0')
  const query = { host: open.host, repository }
  expect(await client.checkManifest({ ...query, reference: '2.0' })).toEqual({ kind: 'absent' })
  expect(await client.checkManifest({ ...query, reference: UNKNOWN_DIGEST })).toEqual({ kind: 'absent' })
  const elsewhere = { host: open.host, repository: uniqueName('never'), reference: '1' }
  expect(await client.checkManifest(elsewhere)).toEqual({ kind: 'absent' })
  await open.deleteManifest(repository, digest)
  expect(await client.checkManifest({ ...query, reference: '1.0' })).toEqual({ kind: 'absent' })
})

test('a moved tag resolves to its new digest', async () => {
  const repository = uniqueName('app')
  const before = await open.pushSampleImage(repository, '1')
  const after = await open.moveTag(repository, '1')
  expect(after.digest).not.toBe(before.digest)
  const answer = await client.checkManifest({ host: open.host, repository, reference: '1' })
  expect(answer).toEqual({ kind: 'exists', digest: after.digest })
})

test('a private registry accepts the right account; with a wrong one or none the image is unreachable, never absent', async () => {
  const repository = uniqueName('app')
  const { digest } = await closed.pushSampleImage(repository, '1')
  const query = { host: closed.host, repository, reference: '1' }
  const refusal = { kind: 'unreachable', cause: 'unauthorized' }
  expect(await client.checkManifest(query, account)).toEqual({ kind: 'exists', digest })
  expect(await client.checkManifest(query)).toEqual(refusal)
  expect(await client.checkManifest(query, { ...account, password: secret('wrong') })).toEqual(refusal)
  expect(await client.checkManifest({ ...query, reference: '2' }, account)).toEqual({ kind: 'absent' })
  expect(await client.checkManifest({ ...query, reference: '2' })).toEqual(refusal)
})

test('a hung registry is unreachable within the deadline, and is used again afterwards', async () => {
  const repository = uniqueName('app')
  const { digest } = await closed.pushSampleImage(repository, '1')
  const query = { host: closed.host, repository, reference: '1' }
  closed.pause()
  // The registry hangs until the check has ended, so without a deadline the check would never end.
  expect(await client.checkManifest(query, account)).toEqual({ kind: 'unreachable', cause: 'timeout' })
  closed.resume()
  expect(await client.checkManifest(query, account)).toEqual({ kind: 'exists', digest })
})

test('a registry that stopped while a connection was kept open is unreachable', async () => {
  const own = await startRegistry()
  const mine = clientFor(own.host)
  await own.pushSampleImage('app', '1')
  const query = { host: own.host, repository: 'app', reference: '1' }
  expect((await mine.checkManifest(query)).kind).toBe('exists')
  await own.stop()
  expect(await mine.checkManifest(query)).toEqual({ kind: 'unreachable', cause: 'connection' })
  mine.close()
})

test('a closed port and an unknown host name are unreachable', async () => {
  const host = `127.0.0.1:${await freePort()}`
  const mine = createRegistryClient({
    allowList: [{ host, plainHttp: true, allowAddress: true }, { host: 'nowhere.invalid' }],
  })
  const query = { repository: 'app', reference: '1' }
  expect(await mine.checkManifest({ host, ...query })).toEqual({ kind: 'unreachable', cause: 'connection' })
  const named = await mine.checkManifest({ host: 'nowhere.invalid:443', ...query })
  expect(named).toEqual({ kind: 'unreachable', cause: 'dns' })
  mine.close()
})
