// A request raises the form of the records only if it is accepted: afterwards no older server can read the store.

import { asNodeId, asTokenId, type Json } from '@holdfast/contract'
import { DEFAULT_LIMITS } from '@holdfast/core'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { afterEach, expect, test } from 'vitest'
import { FIRST_FORMAT, formatAddress } from '../store/format.ts'
import { someTenant } from '../store/records.fixture.ts'
import { tokens } from '../store/records.ts'
import { globally } from '../store/transaction.ts'
import { createBackup } from './backups/create-backup.ts'
import { restoreBackup } from './backups/restore-backup.ts'
import type { Caller, Outcome } from './caller.ts'
import type { DeploymentDeps } from './deployments/deps.ts'
import { createDeployment } from './deployments/write/create-deployment.ts'
import { createJob } from './jobs/create-job.ts'
import { createNetwork } from './networks/create-network.ts'
import { setScaling } from './scaling/set-scaling.ts'
import { createVolume } from './volumes/create-volume.ts'
import { createMeasurements } from './volumes/measure-volumes.ts'

const TOKEN = asTokenId('tok_01JCPZ0000000000000000000A')
const UNKNOWN = asNodeId('node_01JCPZ0000000000000000000A')
const IMAGE = 'registry.test/web:1.0'
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const NO_SECRETS = {
  currentVersion: () => Promise.reject(new Error('no secrets here')),
  writeVersion: () => Promise.reject(new Error('no secrets here')),
  destroyVersion: () => Promise.reject(new Error('no secrets here')),
}
const once = <T extends object>() => ({
  idempotency: undefined,
  answerOf: (body: T) => ({ status: 201, body }),
})

async function platform() {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'tenant-admin', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
  })
  const quotas = { limit: () => 2 ** 40, list: () => ({ items: [] }) }
  const deps = { ...deploymentDeps(store, NO_SECRETS), clock, quotas }
  const caller: Caller = { tenant, token: TOKEN, role: 'tenant-admin', onBehalf: false, requestId: 'r' }
  const form = async (): Promise<number> => {
    await store.fresh()
    return (store.get(formatAddress)?.record ?? FIRST_FORMAT).writes
  }
  return { deps, caller, form }
}

type Send = (deps: DeploymentDeps, caller: Caller, isValid: boolean) => Promise<Outcome<unknown>>

/** The node of a request that no node of the tenant has. */
const onNode = (isValid: boolean): { readonly nodeId?: Json } => (isValid ? {} : { nodeId: UNKNOWN })

const REQUESTS: readonly (readonly [string, Send])[] = [
  [
    'a job',
    (deps, caller, isValid) =>
      createJob(deps, caller, { kind: 'Job', name: 'migrate', image: IMAGE, ...onNode(isValid) }, once()),
  ],
  [
    'a volume',
    (deps, caller, isValid) => {
      const unreachable = () => Promise.reject(new Error('no node is asked'))
      const promotions = {
        askPromises: unreachable,
        isSilent: async () => false,
        limits: { maxLagMs: 1, apartMs: 1 },
      }
      const measurements = createMeasurements(unreachable, clock.now)
      const own = { ...deps, limits: DEFAULT_LIMITS, measurements, promotions }
      const sent = { name: 'data', class: 'ephemeral', sizeBytes: 2 ** 30, ...onNode(isValid) }
      return createVolume(own, caller, sent, once())
    },
  ],
  [
    'a network',
    (deps, caller, isValid) => createNetwork(deps, caller, { name: 'backend', ...onNode(isValid) }, once()),
  ],
]

test.each(REQUESTS)('%s that is rejected by its facts leaves the form of the records', async (_, send) => {
  const { deps, caller, form } = await platform()
  expect((await send(deps, caller, false)).ok).toBe(false)
  expect(await form()).toBe(1)
  expect(await send(deps, caller, true)).toMatchObject({ ok: true })
  expect(await form()).toBe(2)
})

test('a restore with a scaling policy that is rejected leaves the form of the records', async () => {
  const { deps, caller, form } = await platform()
  const resources = { cpuMillis: 100 }
  const body = { kind: 'Deployment', name: 'web', image: IMAGE, resources }
  const policy = { min: 1, max: 3, metric: 'cpu', targetPercent: 50 }
  const accepted = [
    await createDeployment(deps, caller, body, once()),
    await setScaling(deps, caller, { path: 'web', body: policy, ifMatch: undefined }),
  ]
  expect(accepted.map(({ ok }) => ok)).toEqual([true, true])
  const backup = await createBackup(deps, caller, { deploymentName: 'web' }, once())
  if (!backup.ok) throw new Error(JSON.stringify(backup))
  // As if the policy came from a backup of another platform: nothing else here has raised the form.
  await write(deps.store, (transaction) => transaction.delete(formatAddress))
  const restore = (ifMatch: string | undefined) =>
    restoreBackup(deps, caller, backup.value.id, { ifMatch, ...once() })
  expect((await restore('"99"')).ok).toBe(false)
  expect(await form()).toBe(1)
  expect(await restore(undefined)).toMatchObject({ ok: true })
  expect(await form()).toBe(2)
})
