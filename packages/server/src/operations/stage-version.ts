// The first half of a write to two stores: an intent here, then a new version in the secrets store that nobody uses yet.
// SAFETY 4a, steps 4 and 6. The second half pins it and deletes the intent in one transaction.

import { setTimeout as pause } from 'node:timers/promises'
import { reject } from '@holdfast/core'
import { type Clock, timestamp } from '../ports/clock.ts'
import type { SecretDocument, SecretPath, SecretsWriter } from '../ports/secrets-store.ts'
import { intents } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally } from '../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from './caller.ts'

export interface StagedVersion {
  readonly version: number
  /** The intent that the pinning transaction must find and delete. */
  readonly intent: string
}

export interface StageDeps {
  readonly store: Store
  readonly clock: Clock
  readonly secrets: Pick<SecretsWriter, 'currentVersion' | 'writeVersion'>
}

/** Each conflict means that another writer of the same path succeeded: so many of them at once are let through. */
const MAX_TRIES = 25
const PAUSE_MS = 20

/** A conflict means that somebody else wrote in between: the next number is taken and the write tried again. */
export async function stageVersion(
  deps: StageDeps,
  caller: Caller,
  path: SecretPath,
  document: SecretDocument,
): Promise<Outcome<StagedVersion>> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const current = await deps.secrets.currentVersion(caller.tenant, path)
    if (current.kind !== 'ok' && current.kind !== 'absent') return refused(storeAway())
    const cas = current.kind === 'ok' ? current.version : 0
    const intent = await putIntent(deps, caller, path, cas + 1)
    const written = await deps.secrets.writeVersion(caller.tenant, path, document, cas)
    if (written.kind === 'ok') return done({ version: written.version, intent })
    // The intent stays behind for the janitor: a lost answer may have made the version after all.
    if (written.kind !== 'conflict') return refused(storeAway())
    await dropIntent(deps, intent)
    await pause(Math.random() * PAUSE_MS * Math.min(attempt + 1, 5))
  }
  return refused(storeAway())
}

async function putIntent(
  { store, clock }: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  version: number,
): Promise<string> {
  const [namespace, resource] =
    'registryHost' in path ? ['registries', path.registryHost] : [path.namespace, path.label]
  return store.transact((transaction) => {
    const intent = { v: 1, tenant, namespace, resource, version, createdAt: timestamp(clock) }
    transaction.put(globally(intents, transaction.id), intent)
    return { kind: 'commit', result: transaction.id }
  })
}

/** The number belongs to whoever won it. */
async function dropIntent({ store }: StageDeps, intent: string): Promise<void> {
  await store.transact((transaction) => {
    transaction.delete(globally(intents, intent))
    return { kind: 'commit', result: undefined }
  })
}

function storeAway() {
  return reject('secrets_store_unavailable', 'secretsStore', undefined)
}
