// The secrets store is restored from a snapshot that lacks versions to which containers are pinned. No container gets another
// document than the one to which it is pinned, whether a person or the API writes the path next.

import type { NodeId, TenantId } from '@holdfast/contract'
import { openRealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { createSecretsReader } from '@holdfast/server/adapters/secrets-store/secrets-reader'
import { createBroker } from '@holdfast/server/broker/create-broker'
import type { EnvironmentAsk } from '@holdfast/server/ports/broker'
import { credentials } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { makeSimulatedKeys, startSecretsStore, uniqueName } from '@holdfast/testkit'
import { takeSecretsSnapshot } from '@holdfast/testkit/faults/secrets-snapshot'
import { callJson } from '@holdfast/testkit/http-json'
import { enroll, enrollment, joinToken } from '@holdfast/testkit/nodes/enroll'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { startPlatform } from '@holdfast/testkit/platform/start-platform'
import { opened, placeOn, secretEntry } from '@holdfast/testkit/secrets/dispatch-world'
import { expect, onTestFinished, test } from 'vitest'

const namespaces = ['deployments', 'resources']
const AT = '/api/v1/secrets/deployments/db'

test('no container gets another document after the secrets store was restored to an older state', async () => {
  const world = await startWorld()
  await world.write('kept')
  const kept = await world.place(1)
  const snapshot = await takeSecretsSnapshot(world.secretsStore)
  await world.write('lost 2')
  const second = await world.place(2)
  await world.write('lost 3')
  const third = await world.place(3)
  const documents = () => Promise.all([kept, second, third].map(world.documentOf))
  expect(await documents()).toEqual(['kept', 'lost 2', 'lost 3'])

  await snapshot.restore()
  expect(await documents()).toEqual(['kept', 'DB: missing', 'DB: missing'])
  // A person writes the path in the secrets store, which gives number 2 again.
  await world.writeByHand('by hand')
  expect(await documents()).toEqual(['kept', 'DB: replaced', 'DB: missing'])

  const version = await world.write('after')
  expect(await documents()).toEqual(['kept', 'DB: replaced', 'DB: missing'])
  // No document has had this number.
  expect(version).toBe(4)
  expect(world.listed()).toEqual([1, 2, 3, 4])
  expect(await world.documentOf(await world.place(4))).toBe('after')
})

/** A platform with its own secrets store, a node, and a broker whose retry delays have passed before each request. */
async function startWorld() {
  const secretsStore = await startSecretsStore()
  onTestFinished(() => secretsStore.stop())
  const platform = await startPlatform({ secretsStore })
  onTestFinished(() => platform.stop())
  const api = platform.api(platform.acme.token)
  const { store } = platform.server
  const tenant = platform.acme.id as TenantId
  const node = await aNode(platform.baseUrl, api, tenant)
  const real = await openRealStore(secretsStore)
  onTestFinished(() => real.close())
  let nowMs = 0
  const broker = createBroker({
    store,
    ids,
    log: { warn: () => {}, error: () => {} },
    secretsStore: createSecretsReader({ client: real.open(real.platform.broker), namespaces }),
    registry: { checkManifest: async () => ({ kind: 'absent' }) },
    nowMs: () => nowMs,
  })
  return {
    secretsStore,
    /** Writes the next version and returns its number. */
    async write(value: string): Promise<unknown> {
      const { status, body, text } = await api.put(AT, { values: { value } })
      expect(status, text).toBe(200)
      return body['version']
    },
    writeByHand: (value: string) =>
      callJson(`${secretsStore.address}/v1/kv-${tenant}/data/deployments/db`, {
        headers: { 'x-vault-token': secretsStore.rootToken },
        body: { data: { value }, options: { cas: 1 } },
      }),
    /** Places a container that is pinned to a version. */
    place: (version: number) => placeOn(store, node, { secrets: [secretEntry('DB', 'db', version)] }),
    /** The document that the container gets, or why it gets none. */
    async documentOf(container: EnvironmentAsk): Promise<string | undefined> {
      nowMs += 60_000
      const answer = await broker.sealEnvironment({ ...container, attempt: uniqueName('attempt') })
      return answer.sealed === undefined ? answer.about : opened(node, answer).environment['DB_value']
    },
    listed: () =>
      store.get(inTenant(tenant, credentials, 'db'))?.record.versions.map(({ version }) => version),
  }
}

async function aNode(baseUrl: string, api: ApiClient, tenant: TenantId) {
  const keys = makeSimulatedKeys()
  const name = uniqueName('node')
  const { publicKey, encryptionKey } = keys
  const token = await joinToken(api, name)
  const { body } = await enroll(baseUrl, enrollment(name, token, { publicKey, encryptionKey }))
  return { ...keys, tenant, nodeId: String(body['nodeId']) as NodeId, generation: 1 }
}
