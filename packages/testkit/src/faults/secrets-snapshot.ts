// A snapshot of a secrets store, restored as operators do it: with its snapshot calls, under the same unseal keys.

import { waitUntil } from '@holdfast/testkit'
import { answersHealth, unseal } from '../engines/secrets-store-admin.ts'
import type { SecretsStore } from '../engines/start-secrets-store.ts'

export interface SecretsSnapshot {
  /** Restores the snapshot and discards all later changes; resolves when the store accepts writes. */
  restore(): Promise<void>
}

export async function takeSecretsSnapshot(store: SecretsStore): Promise<SecretsSnapshot> {
  const { address, rootToken, unsealKey } = store
  const headers = { 'x-vault-token': rootToken }
  const url = `${address}/v1/sys/storage/raft/snapshot`
  const snapshot = await bodyOf(await fetch(url, { headers }))
  return {
    async restore() {
      await bodyOf(await fetch(url, { method: 'POST', headers, body: snapshot }))
      // The store seals itself or not, depending on its version.
      await waitUntil(() => answersHealth(address), { what: 'the restored secrets store answers' })
      await unseal(address, unsealKey)
    },
  }
}

async function bodyOf(answer: Response): Promise<ArrayBuffer> {
  const body = await answer.arrayBuffer()
  if (!answer.ok)
    throw new Error(`the secrets store answered ${answer.status}: ${new TextDecoder().decode(body)}`)
  return body
}
