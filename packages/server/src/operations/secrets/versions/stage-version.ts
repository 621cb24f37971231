// The first half of a write to two stores: reserves a version number with an intent in etcd, then writes that version to
// the secrets store. The second half, one transaction, pins the version and consumes the intent
// (docs/design/secrets.md#two-store-writes).
//
// The key of an intent contains path and number, so a number has at most one writer, and destroying the version of an
// abandoned intent cannot destroy another writer's version.

import { defined, type Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { sleep } from '../../../lib/sleep.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type {
  SecretDocument,
  SecretPath,
  SecretsWriter,
  VersionList,
  Written,
} from '../../../ports/secrets-store.ts'
import { intents } from '../../../store/records.ts'
import { globally } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type DestroyDeps, markForDestruction, retireVersionNumber } from './destroy-versions.ts'
import { destructionIdOf, intentIdOf, intentOf, type StagedVersion } from './intents.ts'
import { newestNamed, useUpNumber } from './lost-numbers.ts'

export interface StageDeps extends DestroyDeps {
  readonly clock: Clock
}

/** How many milliseconds concurrent writers of one path may wait for a version number. */
const GIVE_UP_MS = 10_000
const PAUSE_MS = 20
/** Time after which a writer that holds a version number is abandoned: its intent is removed, so it cannot commit. */
const ABANDONED_AFTER_MS = 2_000

export interface StageOptions {
  /** Of several versions that are pinned together, the first is the leader, and the others refer to it. */
  readonly leader?: StagedVersion
  /** Set if the document adds keys to the newest version instead of replacing it. */
  readonly patch?: PatchTarget
}

export interface PatchTarget {
  readonly patchVersion: SecretsWriter['patchVersion']
  /** Whether a patch may extend the newest version in the secrets store; `pending` while its writer has not committed. */
  judgeBase(newest: number): Promise<'ok' | 'pending' | Rejection>
}

/** Writes one version to the secrets store. After a conflict with another writer, the next number is tried. */
export async function stageVersion(
  deps: StageDeps,
  caller: Caller,
  path: SecretPath,
  document: SecretDocument,
  { leader, patch }: StageOptions = {},
): Promise<Outcome<StagedVersion>> {
  const write = patch?.patchVersion ?? deps.secrets.writeVersion
  const until = performance.now() + GIVE_UP_MS
  const waiting = { version: 0, since: 0 }
  while (performance.now() < until) {
    const current = await deps.secrets.currentVersion(caller.tenant, path)
    if (current.kind !== 'ok' && current.kind !== 'absent') return refused(storeUnavailable())
    const cas = current.kind === 'ok' ? current.version : 0
    const base = patch === undefined ? 'ok' : await patch.judgeBase(cas)
    if (typeof base === 'object') return refused(base)
    if (base === 'pending') {
      await pause()
      continue
    }
    if (cas < newestNamed(deps.store, caller.tenant, path)) {
      if (await useUpNumber(deps.secrets, caller.tenant, path, cas)) continue
      return refused(storeUnavailable())
    }
    const intent = await reserveNumber(deps, caller, path, cas + 1, leader)
    if (intent === undefined) {
      await waitForNumber(deps, caller, path, cas + 1, waiting)
      continue
    }
    const send = () => write(caller.tenant, path, document, cas)
    const written = await writeNumber(deps, caller, path, cas + 1, send)
    if (written.kind === 'ok')
      return done({ path, version: cas + 1, intent, ...defined({ storedAt: written.storedAt }) })
    // The version may have been written although no answer came, so its intent is left to the sweep of intents.
    if (written.kind === 'unavailable' && written.applied === 'unknown') return refused(storeUnavailable())
    await dropIntent(deps, intent)
    // The next turn judges the newest version again: after a conflict, and if it was destroyed before the patch.
    if (written.kind !== 'conflict' && written.kind !== 'absent') return refused(storeUnavailable())
  }
  return refused(storeUnavailable())
}

type WriteOutcome = Awaited<ReturnType<SecretsWriter['patchVersion']>>

/**
 * Writes the version with a reserved number. If the answer is lost, the version numbers are read back: this writer has the
 * number, so a version with it is its own, and the same write may be sent again while there is none.
 */
async function writeNumber(
  { secrets }: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  number: number,
  send: () => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  const first = await send()
  if (first.kind !== 'unavailable' || first.applied === 'no') return first
  const found = await secrets.currentVersion(tenant, path)
  if (found.kind === 'ok' && found.version >= number) return listedVersion(found, number)
  if (found.kind !== 'ok' && found.kind !== 'absent') return first
  const second = await send()
  // The first write may have been applied after the read: then the second one is a conflict with it.
  if (second.kind !== 'conflict') return second.kind === 'ok' ? second : first
  const again = await secrets.currentVersion(tenant, path)
  return again.kind === 'ok' ? listedVersion(again, number) : { kind: 'ok', version: number }
}

function listedVersion({ versions }: VersionList, number: number): Written {
  const listed = versions.find(({ version }) => version === number)?.createdAt
  return { kind: 'ok', version: number, ...(listed ? { storedAt: listed } : {}) }
}

/** Reserves a version number; undefined if another writer has the number, or if its version is being destroyed. */
async function reserveNumber(
  { store, clock }: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  version: number,
  leader: StagedVersion | undefined,
): Promise<string | undefined> {
  const id = intentIdOf(tenant, path, version)
  const address = globally(intents, id)
  const destruction = globally(intents, destructionIdOf(tenant, path, version))
  if (store.get(address) !== undefined || store.get(destruction) !== undefined) return undefined
  return store.transact<string | undefined>((transaction) => {
    if (transaction.get(address) !== undefined || transaction.get(destruction) !== undefined)
      return { kind: 'abort', result: undefined }
    const intent = { ...intentOf(tenant, path, version), createdAt: timestamp(clock) }
    transaction.put(address, { ...intent, ...defined({ leader: leader?.intent }) })
    return { kind: 'commit', result: id }
  })
}

/** The version number that a writer waits for, and the start of the wait on the monotonic clock. */
interface NumberWait {
  version: number
  since: number
}

async function waitForNumber(
  deps: StageDeps,
  { tenant }: Caller,
  path: SecretPath,
  version: number,
  waiting: NumberWait,
): Promise<void> {
  const now = performance.now()
  if (waiting.version !== version) Object.assign(waiting, { version, since: now })
  if (now - waiting.since > ABANDONED_AFTER_MS) {
    const marked = await markForDestruction(deps, intentIdOf(tenant, path, version))
    await retireVersionNumber(deps, marked ?? destructionIdOf(tenant, path, version))
  }
  await pause()
}

const pause = (): Promise<void> => sleep(PAUSE_MS * (0.5 + Math.random()))

/** Deletes this writer's intent: another writer won the number, and the intent must not destroy that writer's version. */
async function dropIntent({ store }: StageDeps, intent: string): Promise<void> {
  await store.transact((transaction) => {
    transaction.delete(globally(intents, intent))
    return { kind: 'commit', result: undefined }
  })
}

export function storeUnavailable() {
  return reject('secrets_store_unavailable', 'secretsStore', undefined)
}
