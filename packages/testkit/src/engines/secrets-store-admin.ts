// The calls that prepare a fresh Vault: init, unseal, audit, mounts. OpenBao has the same calls.

import { callJson, listMember, textMember } from '../http-json.ts'
import { waitUntil } from '../wait-until.ts'

export interface StoreKeys {
  readonly rootToken: string
  readonly unsealKey: string
}

/** The first calls to a store create keys and files, which takes seconds on a machine where many engines start. */
const SET_UP_MS = 60_000

const put = (url: string, body: unknown, token?: string): Promise<unknown> =>
  callJson(url, {
    method: 'PUT',
    body,
    timeoutMs: SET_UP_MS,
    ...(token === undefined ? {} : { headers: { 'x-vault-token': token } }),
  })

/** Initializes the secrets store with one key share, so that a test can seal and unseal it easily. */
export async function initialise(address: string): Promise<StoreKeys> {
  const answer = await put(`${address}/v1/sys/init`, { secret_shares: 1, secret_threshold: 1 })
  const [unsealKey] = listMember(answer, 'keys_base64')
  return { rootToken: textMember(answer, 'root_token'), unsealKey: String(unsealKey) }
}

/**
 * Unseals the secrets store. Resolves when it is active: a store just unsealed may still answer 429 or 503 to a write.
 */
export async function unseal(address: string, unsealKey: string): Promise<void> {
  await put(`${address}/v1/sys/unseal`, { key: unsealKey })
  await waitUntil(() => isActive(address), { what: 'the secrets store is active' })
}

export async function seal(address: string, rootToken: string): Promise<void> {
  await put(`${address}/v1/sys/seal`, {}, rootToken)
}

export async function enableAudit(address: string, rootToken: string, path: string): Promise<void> {
  await put(`${address}/v1/sys/audit/file`, { type: 'file', options: { file_path: path } }, rootToken)
}

/** Creates a KV version 2 mount and waits until it accepts writes: a new mount rejects writes for a short time. */
export async function enableKvMount(address: string, rootToken: string, mount: string): Promise<void> {
  const headers = { 'x-vault-token': rootToken }
  await callJson(`${address}/v1/sys/mounts/${mount}`, {
    headers,
    body: { type: 'kv', options: { version: '2' } },
  })
  const probe = async () => (await callJson(`${address}/v1/${mount}/config`, { headers })) !== undefined
  await waitUntil(probe, { what: `mount ${mount} accepts writes` })
}

/** True if the process of the secrets store answers, whether sealed, unsealed or uninitialized. */
export async function answersHealth(address: string): Promise<boolean> {
  const answer = await fetch(`${address}/v1/sys/health`, { signal: AbortSignal.timeout(1_000) })
  return answer.status > 0
}

async function isActive(address: string): Promise<boolean> {
  const answer = await fetch(`${address}/v1/sys/health`, { signal: AbortSignal.timeout(1_000) })
  return answer.status === 200
}
