// The steps of a setup that issue credentials: unseal the secrets store, issue its identities, create the platform, show
// everything once. Each credential is on disk before the next call, so an interrupted setup loses none.

import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defined } from '@holdfast/contract'
import type { Config } from '../config/schema.ts'
import { type Secret, secret } from '../ports/secret.ts'
import type { StoreUnsealer } from '../ports/store-unsealer.ts'
import { createPlatform } from '../run-init.ts'
import { issueIdentities } from '../set-up-secrets-store.ts'
import { gatherServiceConfig, gatherSetupConfig, withUnsealer } from './engines.ts'
import { writeOwned } from './files.ts'
import { layoutBelow } from './layout.ts'
import { type Pending, readPending, removePending, writePending } from './pending.ts'
import { type Performing, SetupFault } from './performing.ts'
import { type IdentityStep, type PlatformStep, ROLE_ID, type UnsealStep } from './step.ts'

const ACTIVE_MS = 30_000
const POLL_MS = 100

export function unsealStep({ keyFrom }: UnsealStep, work: Performing): Promise<void> {
  return withUnsealer(requireConfig(work), async (store) => {
    if (keyFrom === 'joining store') await joinStores(store, work)
    const key = keyFrom === 'new store' ? await initializeStore(store, work) : knownKey(keyFrom, work)
    if (!(await store.unseal(key)))
      throw new SetupFault('The secrets store did not accept the unseal key. Check --unseal-key-file.')
    const deadline = performance.now() + ACTIVE_MS
    while (!(await store.isServing())) {
      if (performance.now() > deadline)
        throw new SetupFault(
          `The secrets store accepted the key and does not serve after ${ACTIVE_MS / 1000} s. If it needs several keys, unseal it with: vault operator unseal. Otherwise read its log, then run setup again.`,
        )
      await pause(POLL_MS)
    }
  })
}

async function initializeStore(store: StoreUnsealer, { machine, options }: Performing): Promise<Secret> {
  const keys = await store.initialize()
  if (keys === undefined)
    throw new SetupFault('The secrets store could not be initialized. Read its log, then run setup again.')
  writePending(machine, layoutBelow(options.root).pending, {
    unsealKey: keys.unsealKey.reveal(),
    operatorToken: keys.operatorToken.reveal(),
  })
  return keys.unsealKey
}

/** Asks the machines of the platform one after another: any that is unsealed can admit this one. */
async function joinStores(store: StoreUnsealer, work: Performing): Promise<void> {
  const ca = readFileSync(layoutBelow(work.options.root).authority.cert, 'utf8')
  const others = work.options.joins?.secretsStores ?? []
  for (const other of others) if (await store.join(other, ca)) return
  throw new SetupFault(
    `None of the secrets stores ${others.join(', ')} admits this machine. Check that one of them is unsealed and can be reached, then run setup again.`,
  )
}

function knownKey(keyFrom: Exclude<UnsealStep['keyFrom'], 'new store'>, work: Performing): Secret {
  if (keyFrom === 'pending') return secret(requirePending(work).unsealKey)
  if (work.unsealKey === undefined) throw new SetupFault('Setup needs --unseal-key-file FILE.')
  return work.unsealKey
}

export async function issueIdentityStep(step: IdentityStep, work: Performing): Promise<void> {
  const token = secret(requirePending(work).operatorToken)
  const result = await issueIdentities(requireConfig(work), token, [step.identity], 'process')
  if (result.kind === 'failed')
    throw new SetupFault(`The secrets store ${result.why}. Nothing is lost; run setup again.`)
  const identity = result.issued[step.identity]
  if (identity === undefined) throw new Error(`no identity ${step.identity} was issued`)
  writeOwned(work.machine, step.secretId, `${identity.secretId.reveal()}\n`)
  const content = step.config.content.replaceAll(ROLE_ID, identity.roleId)
  writeOwned(work.machine, step.config, content)
}

export async function createPlatformStep({ reissue, tenant }: PlatformStep, work: Performing): Promise<void> {
  const layout = layoutBelow(work.options.root)
  const config = gatherServiceConfig(layout, 'server')
  if (config === undefined)
    throw new SetupFault(
      `${layout.serverConfig} has faults. List them with: holdfast-server check-config --config ${layout.serverConfig}`,
    )
  const result = await createPlatform(config, { reissue, ...defined({ firstTenant: tenant }) })
  if (result.kind === 'secrets_store_unavailable')
    throw new SetupFault('The secrets store does not answer or refuses. Read its log, then run setup again.')
  if (result.kind === 'already') return
  const pending = readPending(layout.pending)
  if (pending === undefined) {
    work.show({ token: result.token })
    return
  }
  writePending(work.machine, layout.pending, { ...pending, token: result.token })
}

/** The credentials are printed before their file is deleted: shown twice is better than never. */
export async function showPending(work: Performing): Promise<void> {
  const path = layoutBelow(work.options.root).pending
  const pending = readPending(path)
  if (pending === undefined) return
  const { token, unsealKey, operatorToken } = pending
  const isRevoked = await withUnsealer(requireConfig(work), (store) => store.revoke(secret(operatorToken)))
  if (!isRevoked)
    throw new SetupFault(
      "The operator's token of the secrets store could not be revoked. Read the store's log, then run setup again.",
    )
  work.show(token === undefined ? { unsealKey } : { token, unsealKey })
  removePending(path)
}

function requirePending({ options }: Performing): Pending {
  const { pending } = layoutBelow(options.root)
  const found = readPending(pending)
  if (found === undefined) throw new SetupFault(`${pending} is gone. Run setup again to see what it can do.`)
  return found
}

function requireConfig({ options }: Performing): Config {
  const config = gatherSetupConfig(options)
  if (config !== undefined) return config
  throw new SetupFault(
    `Certificates below ${layoutBelow(options.root).pki} cannot be read. Run setup again as root.`,
  )
}
