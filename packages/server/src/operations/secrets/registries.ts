// A tenant's credential for an image registry: written to the secrets store, pinned by a record in etcd, read only by the
// broker (docs/design/secrets.md#registry-credentials). A replaced version gets an intent record again, and the sweep of
// intents destroys it. A version is never destroyed by its number alone, because a slow write may be about to pin it.

import {
  decode,
  defined,
  type Json,
  type Registry,
  type Rejection,
  registryCredentialShape,
} from '@holdfast/contract'
import { parseRegistryHost, reject, storeUnavailable } from '@holdfast/core'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { secret } from '../../ports/secret.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import { intents, registryCredentials } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkShape, type FieldChecks } from '../check-shape.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import { destroyStaged, markVersionsForDestruction } from './versions/destroy-versions.ts'
import { intentIdOf, intentOf, type StagedVersion } from './versions/intents.ts'
import { stageVersion } from './versions/stage-version.ts'

export interface RegistryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly secrets: SecretsWriter
  /** Canonical host names of the allowed registries. */
  readonly allowed: ReadonlySet<string>
}

export function listRegistries(
  { store, allowed }: Pick<RegistryDeps, 'store' | 'allowed'>,
  { tenant }: Caller,
): Registry[] {
  return [...allowed].sort().map((host) => {
    const found = store.get(inTenant(tenant, registryCredentials, host))
    return {
      host,
      credential: found !== undefined,
      ...defined({ updatedAt: found?.record.updatedAt, revision: found?.record.version }),
    }
  })
}

export async function putRegistryCredential(
  deps: RegistryDeps,
  caller: Caller,
  host: string,
  body: Json,
  ifMatch: string | undefined,
): Promise<Outcome<Registry>> {
  const known = allowedHost(deps, host)
  if (known === undefined) return refused(notAllowed(deps, host))
  const faults = checkShape(registryCredentialShape, body, { checks: CREDENTIAL_CHECKS, secret: true })
  if (faults.length > 0) return refused(...faults)
  await deps.store.fresh()
  const before = deps.store.get(inTenant(caller.tenant, registryCredentials, known))?.record
  // Checked before the credential is staged, so that a conflict leaves no version behind; the commit checks it again.
  const conflict = checkIfMatch(ifMatch, before?.version ?? 0)
  if (conflict !== undefined) return refused(conflict)
  const { username, password } = decode(registryCredentialShape, body)
  const document = new Map([
    ['username', secret(username)],
    ['password', secret(password)],
  ])
  const staged = await stageVersion(deps, caller, { registryHost: known }, document)
  if (!staged.ok) return staged
  return pinCredential(deps, caller, { host: known, ifMatch }, staged.value)
}

async function pinCredential(
  { store, clock }: RegistryDeps,
  caller: Caller,
  { host, ifMatch }: { readonly host: string; readonly ifMatch: string | undefined },
  staged: { version: number; intent: string },
): Promise<Outcome<Registry>> {
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const intent = globally(intents, staged.intent)
    if (transaction.get(intent) === undefined) return { kind: 'abort', result: refused(storeUnavailable()) }
    const updatedAt = timestamp(clock)
    const address = inTenant(caller.tenant, registryCredentials, host)
    // If a later version was pinned first, this version is never used, and its intent is left to the sweep of intents.
    const stored = transaction.get(address)
    const newest = stored?.version ?? 0
    const conflict = checkIfMatch(ifMatch, newest)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    if (newest < staged.version) {
      transaction.put(address, { v: 1, ...stored, host, version: staged.version, updatedAt })
      transaction.delete(intent)
      if (newest > 0) leaveToSweep(transaction, caller, host, newest, updatedAt)
    }
    const revision = Math.max(newest, staged.version)
    recordAudit(transaction, clock, caller, {
      action: 'registries:credential-written',
      subject: { kind: 'Registry', name: host },
    })
    return { kind: 'commit', result: done({ host, credential: true, updatedAt, revision }) }
  })
}

export async function removeRegistryCredential(
  deps: RegistryDeps,
  caller: Caller,
  host: string,
  ifMatch: string | undefined,
): Promise<Outcome<Registry>> {
  const { store, clock } = deps
  const known = allowedHost(deps, host)
  if (known === undefined) return refused(notAllowed(deps, host))
  let toDestroy: readonly StagedVersion[] = []
  const outcome = await store.transact<Outcome<Registry>>((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const address = inTenant(caller.tenant, registryCredentials, known)
    const stored = transaction.get(address)
    if (stored === undefined) return { kind: 'abort', result: refused(reject('not_found', 'path', host)) }
    const conflict = checkIfMatch(ifMatch, stored.version)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    transaction.delete(address)
    const path = { registryHost: known }
    toDestroy = markVersionsForDestruction(transaction, clock, caller.tenant, path, [stored.version])
    recordAudit(transaction, clock, caller, {
      action: 'registries:credential-removed',
      subject: { kind: 'Registry', name: known },
    })
    return { kind: 'commit', result: done({ host: known, credential: false }) }
  })
  if (outcome.ok) await destroyStaged(deps, caller.tenant, toDestroy)
  return outcome
}

/** Leaves a replaced version to the sweep of intents: a broker that has just read the record may be about to fetch it. */
function leaveToSweep(
  transaction: Transaction,
  { tenant }: Caller,
  registryHost: string,
  replaced: number,
  createdAt: string,
): void {
  const intent = globally(intents, intentIdOf(tenant, { registryHost }, replaced))
  transaction.put(intent, { ...intentOf(tenant, { registryHost }, replaced), createdAt })
}

function allowedHost({ allowed }: Pick<RegistryDeps, 'allowed'>, host: string): string | undefined {
  const canonical = parseRegistryHost(host)
  return canonical !== undefined && allowed.has(canonical) ? canonical : undefined
}

function notAllowed({ allowed }: Pick<RegistryDeps, 'allowed'>, host: string) {
  return reject('registry_not_allowed', 'host', host, { allowed: [...allowed].sort().join(', ') || 'none' })
}

/** The rules for a registry credential. Rejections do not quote the received value, which may be the password. */
const CREDENTIAL_CHECKS: FieldChecks = {
  username: (name) =>
    typeof name === 'string' && /^[^:]+$/.test(name)
      ? undefined
      : unfit('username', 'a user name, not empty and without a colon'),
  password: (password) => (password === '' ? unfit('password', 'a password or token, not empty') : undefined),
}

const unfit = (field: string, accepted: string): Rejection =>
  reject('field_type_invalid', field, undefined, { accepted })
