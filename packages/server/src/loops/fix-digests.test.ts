import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Broker } from '../ports/broker.ts'
import { aDeployment, aJob, someTenant } from '../store/records.fixture.ts'
import { deployments, events, jobs } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import { startDigestFixing } from './fix-digests.ts'

type Answer = Awaited<ReturnType<Broker['checkImage']>>

/** A job and a deployment without a digest, and a registry with one answer. */
async function world(answer: Answer, times = { retryMs: 1, checkMs: 5 }, onCheck = (): void => {}) {
  const store = await openOver(createMemoryKeyspace())
  const tenant = someTenant()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(inTenant(tenant, jobs, aJob().id), aJob({}, { digest: null }))
    transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web'))
  })
  await store.fresh()
  const fixing = startDigestFixing(
    {
      ...{ store, clock, random: () => 0 },
      broker: {
        async checkImage() {
          onCheck()
          return answer
        },
      },
      leadership: { owns: () => true, fenced: (_tenant, decide) => store.transact(decide) },
      onError: (error) => {
        throw error
      },
    },
    times,
  )
  onTestFinished(async () => {
    await fixing.stop()
    store.close()
  })
  const messages = async () => {
    const keys = store.keysOf(events, tenant).map(({ key }) => key)
    return (await store.read(events, keys)).map((each) => each?.message).sort()
  }
  return { store, tenant, messages }
}

test('a resolved digest raises the revision of a job and keeps that of a deployment', async () => {
  const digest = `sha256:${'e'.repeat(64)}`
  const { store, tenant } = await world({ kind: 'exists', digest } as Answer)
  const read = () => [
    store.get(inTenant(tenant, jobs, aJob().id))?.record,
    store.get(inTenant(tenant, deployments, 'web'))?.record,
  ]
  await expect.poll(() => read().map((each) => each?.digest), { timeout: 15_000 }).toEqual([digest, digest])
  expect(read().map((each) => each?.revision)).toEqual([2, 1])
})

test('each revision with an image of its own gets its own event about the digest', async () => {
  const { store, tenant, messages } = await world({
    kind: 'exists',
    digest: `sha256:${'e'.repeat(64)}`,
  } as Answer)
  const aboutWeb = async () => (await messages()).filter((text) => text?.endsWith('for deployment web.'))
  await expect.poll(async () => (await aboutWeb()).length, { timeout: 15_000 }).toBe(1)
  const spec = { ...aDeployment('web').spec, image: 'registry.example/app:2.0' }
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web', { spec, revision: 2 })),
  )
  await expect.poll(async () => (await aboutWeb()).length, { timeout: 15_000 }).toBe(2)
})

test('the event about a missing image names the remedies of a job and of a deployment', async () => {
  const { messages } = await world({ kind: 'absent' } as Answer)
  await expect.poll(async () => (await messages()).length, { timeout: 15_000 }).toBe(2)
  expect(await messages()).toEqual([
    'The registry has no image registry.example.com:443/migrate:1. Job migrate waits until it is pushed, and fails if that takes too long. Cancel it if the image is wrong.',
    'The registry has no image registry.example/app:1.0. Deployment web waits until it is pushed or the deployment uses another image.',
  ])
})

test('a deployment that returns to a missing image gets another event', async () => {
  const { store, tenant, messages } = await world({ kind: 'absent' } as Answer)
  await expect.poll(async () => (await messages()).length, { timeout: 15_000 }).toBe(2)
  const use = (image: string, revision: number) =>
    write(store, (transaction) => {
      const spec = { ...aDeployment('web').spec, image }
      transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web', { spec, revision }))
    })
  const { image } = aDeployment('web').spec
  await use('registry.example/app:2.0', 2)
  await expect.poll(async () => (await messages()).length, { timeout: 15_000 }).toBe(3)
  await use(image, 3)
  await expect.poll(async () => (await messages()).length, { timeout: 15_000 }).toBe(4)
})

test('a registry without an answer is asked again after the retry time, and less often after each failure', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const asked: number[] = []
  let isOpen = false
  const opening = world({ kind: 'credentials_unavailable' }, { retryMs: 1_000, checkMs: 10 }, () => {
    asked.push(performance.now())
  }).then(() => {
    isOpen = true
  })
  while (!isOpen) await vi.advanceTimersByTimeAsync(1)
  await opening
  // The job and the deployment have different images, and a tenant has one request at a time.
  await vi.advanceTimersByTimeAsync(20_000)
  const ofOneImage = asked.filter((_, at) => at % 2 === 0)
  const gaps = ofOneImage.slice(1).map((at, index) => Math.round((at - (ofOneImage[index] ?? 0)) / 1_000))
  expect(gaps).toEqual([2, 4, 4, 4, 4])
})
