// The first half of a write to two stores: an intent here, then a new version in the secrets store that nobody uses yet.
// SAFETY 4a, steps 4 and 6. The second half pins it and deletes the intent in one transaction.
//
// The intent is kept under the path and the number it wants, so that a number has one writer at most: whoever destroys the
// version of an abandoned intent destroys nobody else's.

import { reject } from '@holdfast/core'
import { sleep } from '../../../lib/sleep.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type { SecretDocument, SecretPath, SecretsWriter } from '../../../ports/secrets-store.ts'
import { intents } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import {
  destructionIdOf,
  intentIdOf,
  intentOf,
  markForDestruction,
  retireVersionNumber,
} from './retire-version-number.ts'

export interface StagedVersion {
  readonly path: SecretPath
  readonly version: number
  /** The intent that the pinning transaction must find and delete. */
  readonly intent: string
}

export interface StageDeps {
  readonly store: Store
  readonly clock: Clock
  readonly secrets: Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>
}

/** So many writers of one path at once, one after another, are let through. */
const PATIENCE_MS = 10_000
const PAUSE_MS = 20
/** A writer that holds a number for longer is slow or dead: the number is given up, and it finds its intent gone. */
const TAKEN_MS = 2_000

/**
 * A conflict means that somebody else wrote in between: the next number is taken and the write tried again. Of several that
 * are to be pinned together the first leads the others.
 */
export async function stageVersion(
  deps: StageDeps,
  caller: Caller,
  path: SecretPath,
  document: SecretDocument,
  leader?: StagedVersion,
): Promise<Outcome<StagedVersion>> {
  const until = performance.now() + PATIENCE_MS
  const waiting = { version: 0, since: 0 }
  while (performance.now() < until) {
    const current = await deps.secrets.currentVersion(caller.tenant, path)
    if (current.kind !== 'ok' && current.kind !== 'absent') return refused(storeUnavailable())
    const cas = current.kind === 'ok' ? current.version : 0
    const intent = await reserveNumber(deps, caller, path, cas + 1, leader)
    if (intent === undefined) {
      await waitForNumber(deps, caller, path, cas + 1, waiting)
      continue
    }
    const written = await deps.secrets.writeVersion(caller.tenant, path, document, cas)
    if (written.kind === 'ok') return done({ path, version: written.version, intent })
    // An intent stays behind for the janitor where a lost answer may have made the version after all.
    if (written.kind === 'unavailable' && written.applied === 'unknown') return refused(storeUnavailable())
    await dropIntent(deps, intent)
    if (written.kind !== 'conflict') return refused(storeUnavailable())
  }
  return refused(storeUnavailable())
}

/** In the pinning transaction: false where the number was given up meanwhile, and must not be pinned. */
export function takeIntent(transaction: Transaction, { intent }: Pick<StagedVersion, 'intent'>): boolean {
  const address = globally(intents, intent)
  if (transaction.get(address) === undefined) return false
  transaction.delete(address)
  return true
}

/**
 * The same of several that were staged together: with the first all of them are given up, so that the first alone is compared
 * and taken, and a transaction has room for the rest (SAFETY 4a). Those of the others are ended after it: of a version that is
 * listed an intent asks for nothing.
 */
export function takeIntents(transaction: Transaction, [leader]: readonly StagedVersion[]): boolean {
  return leader === undefined || takeIntent(transaction, leader)
}

/** Undefined where another writer has the number, or it is being given up. */
async function reserveNumber(
  { store, clock }: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  version: number,
  leader: StagedVersion | undefined,
): Promise<string | undefined> {
  const id = intentIdOf(tenant, path, version)
  const [address, pendingDestruction] = [
    globally(intents, id),
    globally(intents, destructionIdOf(tenant, path, version)),
  ]
  if (store.get(address) !== undefined || store.get(pendingDestruction) !== undefined) return undefined
  return store.transact<string | undefined>((transaction) => {
    if (transaction.get(address) !== undefined || transaction.get(pendingDestruction) !== undefined)
      return { kind: 'abort', result: undefined }
    const intent = { ...intentOf(tenant, path, version), createdAt: timestamp(clock) }
    transaction.put(address, { ...intent, ...(leader === undefined ? {} : { leader: leader.intent }) })
    return { kind: 'commit', result: id }
  })
}

interface Waiting {
  version: number
  since: number
}

async function waitForNumber(
  deps: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  version: number,
  waiting: Waiting,
): Promise<void> {
  const now = performance.now()
  if (waiting.version !== version) Object.assign(waiting, { version, since: now })
  if (now - waiting.since > TAKEN_MS) {
    const pendingDestruction = await markForDestruction(deps, intentIdOf(tenant, path, version))
    const id = pendingDestruction ?? destructionIdOf(tenant, path, version)
    await retireVersionNumber(deps, id)
  }
  await sleep(PAUSE_MS * (0.5 + Math.random()))
}

/** The number belongs to whoever won it. */
async function dropIntent({ store }: StageDeps, intent: string): Promise<void> {
  await store.transact((transaction) => {
    transaction.delete(globally(intents, intent))
    return { kind: 'commit', result: undefined }
  })
}

export function storeUnavailable() {
  return reject('secrets_store_unavailable', 'secretsStore', undefined)
}
