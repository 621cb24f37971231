import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { callJson, HttpStatusError } from '../http-json.ts'
import { sharedSecretsStore } from './shared-engines.ts'

test('KV version 2 rejects a stale check-and-set, and the audit log has the write without its value', async () => {
  const { address, rootToken, auditLogPath, createMount } = await sharedSecretsStore()
  const mount = await createMount()
  const write = (cas: number) =>
    callJson(`${address}/v1/${mount}/data/acme/web`, {
      headers: { 'x-vault-token': rootToken },
      body: { data: { password: 'canary-5d1c' }, options: { cas } },
    })
  await write(0)
  await expect(write(0)).rejects.toThrow(/check-and-set/)
  const audit = readFileSync(auditLogPath, 'utf8')
  expect(audit).toContain(`${mount}/data/acme/web`)
  expect(audit).not.toContain('canary-5d1c')
})

test('a sealed store answers 503 and works again after unseal', async () => {
  const store = await sharedSecretsStore()
  const mount = await store.createMount()
  const headers = { 'x-vault-token': store.rootToken }
  const readConfig = () => callJson(`${store.address}/v1/${mount}/config`, { headers })
  await store.seal()
  const refusal = await readConfig().catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(HttpStatusError)
  expect(refusal).toHaveProperty('status', 503)
  await store.unseal()
  expect(await readConfig()).toBeDefined()
})

test('a paused store keeps its connections open and answers nothing', async () => {
  const store = await sharedSecretsStore()
  const ask = (timeoutMs: number) => callJson(`${store.address}/v1/sys/seal-status`, { timeoutMs })
  store.pause()
  await expect(ask(200)).rejects.toThrow(/timeout/)
  store.resume()
  expect(await ask(5_000)).toMatchObject({ sealed: false })
})
