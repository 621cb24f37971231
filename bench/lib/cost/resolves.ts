// The hot path of resolving: a node asks for the environment of a container with one secret, the broker reads the secret and
// seals it. The secrets store is a stand-in in another process.

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { NodeId, TenantId } from '@holdfast/contract'
import { createSecretsReader } from '@holdfast/server/adapters/secrets-store/secrets-reader'
import { createSecretsStoreClient } from '@holdfast/server/adapters/secrets-store/secrets-store-client'
import { createBroker } from '@holdfast/server/broker/create-broker'
import type { EnvironmentAsk } from '@holdfast/server/ports/broker'
import { secret } from '@holdfast/server/ports/secret'
import { nodes, tenants } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { charge, type HotPath } from './hot-path.ts'
import { connectMemory, createMemoryKeyspace } from './memory-world.ts'
import { placeWithSecret } from './place-with-secret.ts'

/** Number of containers that ask at the same time, each for another secret. */
const LANES = 8
const TIME = '2026-01-01T00:00:00.000Z'

/** `standIn`: port of the stand-in for the secrets store. */
export async function resolves(standIn: number): Promise<HotPath> {
  const engine = connectMemory(createMemoryKeyspace())
  const store = await openStore({ engine, clock, ids, root: '/hf', onUnreadable: () => {} })
  const asks = await placeAll(store)
  const address = `http://127.0.0.1:${standIn}`
  const client = createSecretsStoreClient({ address, auth: { token: secret('bench') } })
  const broker = createBroker({
    store,
    ids,
    log: console,
    secretsStore: createSecretsReader({ client, namespaces: ['deployments'] }),
    registry: { checkManifest: async () => ({ kind: 'absent' }) },
  })
  let attempts = 0
  const resolve = async (ask: Omit<EnvironmentAsk, 'attempt'>): Promise<void> => {
    attempts += 1
    const answer = await broker.sealEnvironment({ ...ask, attempt: `a-${attempts}` })
    if (answer.sealed === undefined) throw new Error(`nothing was sealed: ${JSON.stringify(answer)}`)
  }
  return {
    run(operations) {
      const each = Math.ceil(operations / LANES)
      return charge(each * LANES, async () => {
        const lane = async (ask: Omit<EnvironmentAsk, 'attempt'>): Promise<void> => {
          for (let times = 0; times < each; times += 1) await resolve(ask)
        }
        await Promise.all(asks.map(lane))
      })
    },
  }
}

async function placeAll(store: Store): Promise<Omit<EnvironmentAsk, 'attempt'>[]> {
  const tenant = randomUUID() as TenantId
  const nodeId = `node_${ids.ulid()}` as NodeId
  const encryptionKey = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }).x ?? ''
  return store.transact((transaction) => {
    transaction.put(globally(tenants, tenant), {
      ...{ v: 1, id: tenant, name: 'bench', platform: false, quotas: {}, revision: 1 },
      ...{ createdAt: TIME, deleting: false },
    })
    transaction.put(inTenant(tenant, nodes, nodeId), {
      ...{ v: 1, id: nodeId, name: 'bench', generation: 1, publicKey: '', encryptionKey },
      ...{ labels: {}, attested: {}, controlPlane: false, schedulable: true, status: 'ready' },
      capacity: { cpuMillis: 4_000, memoryBytes: 8 * 1024 ** 3 },
      engine: { version: '29.0.0', apiVersion: '1.52' },
      session: { replica: null, epoch: 1, bootId: 'boot' },
      ...{ statusSince: TIME, createdAt: TIME, slot: 0 },
    })
    const asks = Array.from({ length: LANES }, (_, lane) =>
      placeWithSecret(transaction, tenant, nodeId, `app-${lane}`),
    )
    return { kind: 'commit', result: asks }
  })
}
