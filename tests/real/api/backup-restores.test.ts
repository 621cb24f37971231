// A restore stores the spec of the backup plus the alterations that it reports, over an existing, a changed and a deleted
// deployment. No secret value reaches a record of a backup.

import type { Alteration, DeploymentRecord, JsonObject } from '@holdfast/contract'
import { READ_ONLY_FIELDS } from '@holdfast/contract'
import { arbitraryChange, arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { putAt } from '@holdfast/testkit/images/put-at'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RUNS = inRun(20, 200)
const DEPLOYMENTS = '/api/v1/deployments'
const BACKUPS = '/api/v1/backups'

let platform: Platform
let api: ApiClient
beforeAll(async () => {
  const quotas = { deployments: 20_000, backups: 20_000, secrets: 20_000, stored_bytes: 10_000_000_000 }
  platform = await ownPlatform({ settings: { quotas } })
  api = platform.api(platform.acme.token)
  for (const name of ['db', 'cache']) {
    const healthCheck = { type: 'exec', command: ['check'] }
    written(await api.post(DEPLOYMENTS, { kind: 'Deployment', image: platform.image, name, healthCheck }))
  }
})
afterAll(() => platform.stop())

interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
}

function written(answer: ApiAnswer): Written {
  if (answer.status !== 200 && answer.status !== 201) throw new Error(answer.text)
  return JSON.parse(answer.text)
}

const read = async (name: string): Promise<DeploymentRecord> =>
  JSON.parse((await api.get(`${DEPLOYMENTS}/${name}`)).text)

/** Alterations that say nothing about the spec. A pinned version is part of the deployment's record and not of its spec. */
const BESIDE_THE_SPEC: ReadonlySet<string> = new Set([
  'image_digest_resolved',
  'residency_stored_as_label',
  'secret_version_pinned',
])

/** Computes the expected spec from only the spec of the backup and the reported alterations. */
function expected(spec: JsonObject, alterations: readonly Alteration[]): JsonObject {
  const result = structuredClone(spec)
  for (const { code, field, to } of alterations)
    if (!BESIDE_THE_SPEC.has(code)) putAt(result, field.split('.'), to)
  return result
}

function specOf(record: DeploymentRecord): JsonObject {
  const spec: JsonObject = { ...record }
  for (const field of READ_ONLY_FIELDS) delete spec[field]
  return spec
}

const options = () => ({ images: [platform.image], dependencies: ['db', 'cache'] })

/** A text that is part of every secret value of this test and occurs nowhere else. */
const CANARY = '4f9a61c2e8d7'
const labelOf = (serial: number, index: number): string => `canary-${serial}-${index}`

/** Adds one to three secrets with values, and a template that uses the first. */
const withSecrets = (body: JsonObject, serial: number): JsonObject => ({
  ...body,
  secrets: Array.from({ length: 1 + (serial % 3) }, (_, index) => ({
    name: `S${index}`,
    vault_path: `resources/${labelOf(serial, index)}`,
    anchor: index === 0 ? 'external' : 'process',
    values: { password: `${CANARY}-${serial}-${index}` },
  })),
  composedEnvironment: { URL: `postgres://app:{{secret.${labelOf(serial, 0)}.password}}@db` },
})

/** A change that drops all secrets drops the template that uses one, too. */
const withoutTemplates = (change: JsonObject): JsonObject =>
  'secrets' in change ? { ...change, composedEnvironment: {} } : change

/** Restores a backup and checks the stored spec against that of the backup. */
async function restore(id: string, name: string): Promise<DeploymentRecord> {
  const { text } = await api.get(`${BACKUPS}/${id}`)
  expect(text).not.toContain(CANARY)
  const { spec } = JSON.parse(text)
  const restored = written(await api.send('POST', `${BACKUPS}/${id}/restore`))
  const stored = await read(name)
  expect(stored).toEqual(restored.deployment)
  expect(specOf(stored)).toEqual(expected(spec, restored.alterations))
  return stored
}

async function removed(name: string): Promise<void> {
  expect((await api.delete(`${DEPLOYMENTS}/${name}`)).status).toBe(202)
  await expect.poll(async () => (await api.get(`${DEPLOYMENTS}/${name}`)).status).toBe(404)
}

test('the restored spec is the one of the backup plus the reported alterations', {
  timeout: LONG ? 3_600_000 : 600_000,
}, async () => {
  let serial = 0
  await fc.assert(
    fc.asyncProperty(arbitraryDeployment(options()), arbitraryChange(options()), async (body, change) => {
      serial += 1
      const name = `g${serial}`
      const created = written(await api.post(DEPLOYMENTS, withSecrets({ ...body, name }, serial)))
      const backup = await api.post(BACKUPS, { deploymentName: name })
      expect(backup.status, backup.text).toBe(201)
      const id = String(backup.body['id'])
      const copy = JSON.parse((await api.get(`${BACKUPS}/${id}`)).text)
      expect(copy.spec).toEqual(specOf(created.deployment))

      const unchanged = await restore(id, name)
      expect([unchanged.revision, unchanged.uid]).toEqual([2, created.deployment.uid])
      const sent = withoutTemplates(change)
      const { revision } = written(await api.put(`${DEPLOYMENTS}/${name}`, sent)).deployment
      const values = { password: `${CANARY}-newer` }
      expect((await api.put(`/api/v1/secrets/resources/${labelOf(serial, 0)}`, { values })).status).toBe(200)
      const reverted = await restore(id, name)
      expect(reverted.revision).toBe(revision + 1)
      await removed(name)
      const returned = await restore(id, name)
      expect(returned.revision).toBe(1)
      expect(returned.uid).not.toBe(created.deployment.uid)
      // Generated routes and names are unique, but a deployment that stays would slow down the next ones.
      await removed(name)
    }),
    { numRuns: RUNS },
  )
  console.log(
    `${serial} deployments were backed up and restored three times${LONG ? '' : '; 200 in the long run'}`,
  )
  const dump = Object.entries(await dumpTenants(platform))
  const parts = dump.filter(([key]) => key.includes('/bakpart/'))
  expect(parts.length).toBeGreaterThanOrEqual(serial)
  // Each name of a secret is there, and no value.
  expect(parts.some(([, { value }]) => value.includes(`resources/${labelOf(serial, 0)}`))).toBe(true)
  const leaks = dump.filter(([, { value }]) => value.includes(CANARY)).map(([key]) => key)
  expect(leaks).toEqual([])
})
