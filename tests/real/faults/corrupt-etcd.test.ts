// The disk of one etcd member corrupts data. With the checks from docs/guides/configuration.md this is detected: a
// starting member compares its data with the others and refuses to start; for a running member the others raise an alarm,
// and no write is accepted until the operator has acted.

import { deployments } from '@holdfast/server/store/records'
import { putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import { inTenant } from '@holdfast/server/store/transaction'
import { type EtcdCluster, isAlive, startEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { disarm, flipInDatabase, hashOf } from '@holdfast/testkit/faults/flip-bytes'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

async function damaged(flags: readonly string[]) {
  const cluster = await startEtcd({ members: 3, flags })
  onTestFinished(() => cluster.stop())
  const root = `/${uniqueName('corrupt')}`
  const open = async (deadlineMs?: number) => {
    const { endpoints } = cluster
    const opened = await openTestStore({ endpoints, root, ...(deadlineMs && { deadlineMs }) })
    onTestFinished(() => opened.close())
    return opened
  }
  const opened = await open()
  const tenant = someTenant()
  const create = (name: string, { store }: TestStore = opened) =>
    store.transact((transaction) => {
      putDeployment(transaction, tenant, name)
      return { kind: 'commit', result: 'created' }
    })
  const name = uniqueName('flipped')
  await create(name)
  const leader = await cluster.findLeader()
  const member = cluster.members.find((one) => one !== leader)
  if (member === undefined) throw new Error('no follower')
  await flipInDatabase(member, name)
  const kept = async () => {
    await opened.store.fresh()
    return opened.store.get(inTenant(tenant, deployments, name))?.record.spec.name === name
  }
  return { ...opened, cluster, member, open, create, kept }
}

async function sameEverywhere({ members }: EtcdCluster, revision: number): Promise<boolean> {
  const hashes = await Promise.all(members.map((member) => hashOf(member, revision)))
  return new Set(hashes).size === 1
}

test('a corrupt member refuses to start, two members are enough, and an empty one replaces it', async () => {
  const { cluster, member, create, kept, engine, store } = await damaged([
    '--feature-gates=InitialCorruptCheck=true',
  ])
  await member.restart({ wait: false })
  await waitUntil(() => !isAlive(member.pid), { what: 'the member has refused to start' })
  expect(await create('with-two')).toBe('created')
  expect(await kept()).toBe(true)
  expect((await engine.status()).map(({ endpoint }) => endpoint)).not.toContain(member.endpoint)

  await member.wipeAndReplace()
  expect(await create('afterwards')).toBe('created')
  await waitUntil(async () => (await engine.status()).length === 3, { what: 'it is one of three again' })
  await waitUntil(() => sameEverywhere(cluster, store.revision), { what: 'all members hold the same' })
})

test('a corrupt running member raises an alarm: nothing is written until it is replaced and the alarm is cleared', async () => {
  const { member, open, create, kept, engine } = await damaged(['--corrupt-check-time=1s'])
  const hasty = await open(1_000)
  await member.restart({ wait: false })
  const alarms = async () => (await engine.status()).flatMap((one) => one.alarms)
  await waitUntil(async () => (await alarms()).includes('CORRUPT'), { what: 'the alarm is raised' })
  // The write is retried until it succeeds or fails as corrupt, because it may time out on a busy machine.
  const answer = await waitUntil(
    async () => {
      const outcome = await create('during', hasty).catch(String)
      return outcome === 'created' || outcome.includes('corrupt cluster') ? outcome : undefined
    },
    { what: 'the write is answered' },
  )
  expect(answer).toContain('StoreUnavailableError')
  expect(await kept()).toBe(true)

  await member.wipeAndReplace()
  await disarm(member)
  await waitUntil(() => create('afterwards'), { what: 'writes are accepted again' })
  expect(await alarms()).toEqual([])
})
