// Tests the behavior of etcd on which the upkeep relies: at the quota of its file, and after a defragmentation.

import { put, unconditionally, under, write } from '@holdfast/simulation/conformance/fixtures'
import { startEtcd, uniquePrefix, waitUntil } from '@holdfast/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createEtcdClient } from '../create-etcd-client.ts'
import { createMaintenance } from './create-maintenance.ts'

const QUOTA = 4_000_000
const VALUE = new Uint8Array(100_000)
const refused = { reason: 'no_space' }

async function fullEtcd() {
  const cluster = await startEtcd({ quotaBytes: QUOTA })
  onTestFinished(() => cluster.stop())
  const engine = createEtcdClient({ endpoints: cluster.endpoints })
  const maintenance = createMaintenance({ endpoints: cluster.endpoints })
  onTestFinished(() => {
    engine.close()
    maintenance.close()
  })
  const prefix = uniquePrefix()
  const fill = async () => {
    for (let index = 0; ; index += 1) await write(engine, `${prefix}${index}/`, VALUE)
  }
  await expect(fill()).rejects.toMatchObject(refused)
  const status = async () => {
    const [member] = await engine.status()
    if (member === undefined) throw new Error('etcd does not answer')
    return member
  }
  return { engine, maintenance, prefix, status, endpoint: cluster.endpoints[0] ?? '' }
}

test('a full etcd refuses transactions with a put in any branch, and accepts deletions', async () => {
  const { engine, prefix, status } = await fullEtcd()
  expect(await status()).toMatchObject({ alarms: ['NOSPACE'] })
  const remove = (name: string) => ({ kind: 'delete', key: `${prefix}${name}/` }) as const
  const never = [{ key: `${prefix}none/`, target: 'version', is: 'greater', value: 0 }] as const
  await expect(write(engine, `${prefix}small/`, new Uint8Array(1))).rejects.toMatchObject(refused)
  await expect(engine.transact(unconditionally(remove('0'), put(`${prefix}a/`)))).rejects.toMatchObject(
    refused,
  )
  const branch = { compares: [], success: [remove('0')], failure: [put(`${prefix}a/`)] }
  await expect(engine.transact(branch)).rejects.toMatchObject(refused)
  expect(await engine.transact({ compares: never, success: [], failure: [remove('0')] })).toMatchObject({
    succeeded: false,
    results: [{ kind: 'delete', deleted: 1 }],
  })
  expect(await engine.range({ ...under(`${prefix}1/`), countOnly: true })).toMatchObject({ count: 1 })
})

test('deletions, compaction and defragmentation shrink the file, and a cleared alarm lets writes through', async () => {
  const { engine, maintenance, prefix, status, endpoint } = await fullEtcd()
  const { dbSizeBytes: full } = await status()
  const { revision } = await engine.transact(unconditionally({ kind: 'delete', ...under(prefix) }))
  await engine.compact(revision, { physical: true })
  await waitUntil(async () => (await status()).dbSizeInUseBytes < full / 4, { what: 'the pages are free' })
  expect((await status()).dbSizeBytes).toBeGreaterThanOrEqual(full)
  await maintenance.probe(endpoint)
  await maintenance.defragment(endpoint, { deadlineMs: 30_000 })
  expect((await status()).dbSizeBytes).toBeLessThan(full / 4)
  await expect(write(engine, `${prefix}a/`)).rejects.toMatchObject(refused)
  await maintenance.clearNoSpace()
  expect(await status()).toMatchObject({ alarms: [] })
  await write(engine, `${prefix}a/`)
})

test('a call to a member that is not configured is an error', async () => {
  const maintenance = createMaintenance({ endpoints: ['http://127.0.0.1:1'] })
  onTestFinished(() => maintenance.close())
  await expect(maintenance.probe('http://127.0.0.1:2')).rejects.toThrow('not configured')
  await expect(maintenance.probe('http://127.0.0.1:1', { deadlineMs: 500 })).rejects.toMatchObject({
    applied: 'no',
  })
})
