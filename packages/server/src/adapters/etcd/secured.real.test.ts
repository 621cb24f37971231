// Tests the etcd client with an etcd that uses TLS, that has users, and whose database is full.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { put, recordWatch, unconditionally, under, write } from '@holdfast/simulation/conformance/fixtures'
import {
  type EtcdCluster,
  engineBinary,
  makeCertificates,
  startEtcd,
  startTlsEtcd,
  uniquePrefix,
  waitUntil,
} from '@holdfast/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { KeyValueEngine } from '../../ports/key-value.ts'
import { secret } from '../../ports/secret.ts'
import { createEtcdClient, type EtcdClientOptions } from './create-etcd-client.ts'

const run = promisify(execFile)

function clientOf(options: EtcdClientOptions): KeyValueEngine {
  const engine = createEtcdClient(options)
  onTestFinished(() => engine.close())
  return engine
}

async function ownCluster(options: Parameters<typeof startEtcd>[0] = {}): Promise<EtcdCluster> {
  const cluster = await startEtcd(options)
  onTestFinished(() => cluster.stop())
  return cluster
}

describe('etcd with TLS', () => {
  test('accepts only connections with the CA and a client certificate', async () => {
    const { path, pem, remove } = await makeCertificates()
    onTestFinished(remove)
    const files = { cert: path('server.crt'), key: path('server.key'), trusted: path('ca.crt') }
    const { endpoint, stop } = await startTlsEtcd(files)
    onTestFinished(stop)
    const tls = { ca: pem('ca.crt'), cert: pem('client.crt'), key: pem('client.key') }
    const engine = clientOf({ endpoints: [endpoint], tls: () => tls, deadlineMs: 20_000 })
    const prefix = uniquePrefix()
    const revision = await write(engine, `${prefix}a/`, 'sealed')
    const watch = recordWatch(engine, under(prefix), revision)
    await waitUntil(() => watch.story().length === 1, { what: 'the watch speaks TLS too' })
    for (const lacking of [{ ca: tls.ca }, { cert: tls.cert, key: tls.key }]) {
      const stranger = clientOf({ endpoints: [endpoint], tls: () => lacking, deadlineMs: 3_000 })
      await expect(stranger.transact(unconditionally(put(`${prefix}b/`)))).rejects.toMatchObject({
        reason: 'unavailable',
      })
    }
    expect(await engine.range(under(prefix))).toMatchObject({ count: 1 })
  })
})

describe('etcd with users', () => {
  /** Starts etcd with two users: root has all permissions; guest may read and write one prefix. */
  async function withUsers(prefix: string): Promise<EtcdCluster> {
    const cluster = await ownCluster()
    const etcdctl = (...args: string[]) =>
      run(engineBinary('etcdctl'), ['--endpoints', cluster.endpoints.join(), ...args])
    await etcdctl('user', 'add', 'root:rootpw')
    await etcdctl('user', 'add', 'guest:guestpw')
    await etcdctl('role', 'add', 'guest')
    await etcdctl('role', 'grant-permission', 'guest', 'readwrite', prefix, '--prefix')
    await etcdctl('user', 'grant-role', 'guest', 'guest')
    await etcdctl('auth', 'enable')
    return cluster
  }

  test('limits a user to the keys it may read, write and watch', async () => {
    const prefix = uniquePrefix()
    const { endpoints } = await withUsers(prefix)
    const guest = clientOf({ endpoints, username: 'guest', password: secret('guestpw') })
    const watch = recordWatch(guest, under(prefix), await write(guest, `${prefix}a/`, 'mine'))
    await waitUntil(() => watch.story().length === 1, { what: 'the watch is allowed' })
    const refused = { reason: 'unauthorized', applied: 'no' }
    await expect(write(guest, '/theirs/')).rejects.toMatchObject(refused)
    const liar = clientOf({ endpoints, username: 'guest', password: secret('wrong') })
    await expect(write(liar, `${prefix}b/`)).rejects.toMatchObject(refused)
    await expect(write(clientOf({ endpoints }), `${prefix}c/`)).rejects.toMatchObject(refused)
    expect(await guest.range(under(prefix))).toMatchObject({ count: 1 })
  })

  test('renews a token that etcd has forgotten, for calls and for the watch', async () => {
    const prefix = uniquePrefix()
    const cluster = await withUsers(prefix)
    const guest = clientOf({ endpoints: cluster.endpoints, username: 'guest', password: secret('guestpw') })
    const watch = recordWatch(guest, under(prefix), await write(guest, `${prefix}a/`))
    await waitUntil(() => watch.story().length === 1, { what: 'the watch runs' })
    await cluster.members[0]?.restart({ wait: false })
    await waitUntil(() => guest.range({ key: prefix }, { deadlineMs: 1_000 }), { what: 'etcd is back' })
    await write(guest, `${prefix}b/`)
    await waitUntil(() => watch.story().length === 2, { what: 'the watch resumes' })
  })
})

test('reports a full database with an unknown outcome for the write', async () => {
  const { endpoints } = await ownCluster({ quotaBytes: 1_000_000 })
  const engine = clientOf({ endpoints })
  const prefix = uniquePrefix()
  let written = 0
  const fill = async () => {
    for (; ; written += 1) await write(engine, `${prefix}${written}/`, new Uint8Array(50_000))
  }
  await expect(fill()).rejects.toMatchObject({ reason: 'no_space', applied: 'unknown' })
  expect(written).toBeGreaterThan(0)
  expect(await engine.status()).toMatchObject([{ alarms: ['NOSPACE'] }])
  expect(await engine.range({ ...under(prefix), countOnly: true })).toMatchObject({
    revision: expect.any(Number),
  })
})
