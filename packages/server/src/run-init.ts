// `holdfast-server init`: connects to the store and the secrets store, initializes the platform and prints the result.
// Only credentials go to standard output, so that a script can read them; messages go to standard error.

import pino from 'pino'
import type { Config } from './config/schema.ts'
import { connectEtcd, connectSecretsWriter } from './connect-engines.ts'
import {
  type InitializeDeps,
  type Initialized,
  type InitializeOptions,
  initialize,
  provisionTenants,
} from './operations/tenants/initialize.ts'
import { type SecretsStoreSetUp, setUpSecretsStore } from './set-up-secrets-store.ts'
import { requireEpoch } from './store/require-epoch.ts'
import { openStore } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface InitOptions {
  readonly reissue: boolean
  /** File with an operator's token for the secrets store; absent if the secrets store is already set up. */
  readonly operatorTokenFile?: string
}

const printMessage = (text: string): void => void process.stderr.write(`${text}\n`)

export async function runInit(config: Config, { reissue, operatorTokenFile }: InitOptions): Promise<number> {
  if (operatorTokenFile === undefined)
    return report(await withPlatform(config, (parts) => initialize(parts, { reissue })))
  const setUp = await setUpSecretsStore(config, operatorTokenFile)
  if (setUp.kind === 'failed') {
    printMessage(`The secrets store ${setUp.why}. Nothing is lost; run this again.`)
    return 1
  }
  for (const line of setUp.done) printMessage(`secrets store: ${line}`)
  const { api } = setUp.issued
  const secretsStore = api === undefined ? config.secretsStore : { ...config.secretsStore, api }
  return withPlatform({ ...config, secretsStore }, async (parts) => {
    const count = await provisionTenants(parts)
    if (count === undefined) return reportAll(setUp.issued, { kind: 'secrets_store_unavailable' })
    if (count > 0) printMessage(`secrets store: mounts and policies of ${count} tenants`)
    return reportAll(setUp.issued, await initialize(parts, { reissue }))
  })
}

/** Creates the platform tenant with the identity of the configuration, and prints nothing. */
export const createPlatform = (config: Config, options: InitializeOptions): Promise<Initialized> =>
  withPlatform(config, (parts) => initialize(parts, options))

async function withPlatform<T>(config: Config, work: (parts: InitializeDeps) => Promise<T>): Promise<T> {
  const log = pino({ level: 'error' }, process.stderr)
  const engine = connectEtcd(config, log)
  const store = await openStore({
    engine,
    clock,
    ids,
    root: config.etcd.root,
    onUnreadable: (key) => log.error({ key }, 'stored record cannot be decoded'),
  })
  try {
    await requireEpoch(store, { clock, ids })
    return await work({ store, clock, ids, secrets: connectSecretsWriter(config) })
  } finally {
    store.close()
    engine.close()
  }
}

function report(result: Initialized): number {
  printResult(result)
  if (result.kind === 'done') process.stdout.write(`${result.token}\n`)
  return result.kind === 'done' ? 0 : 1
}

type Issued = Extract<SecretsStoreSetUp, { kind: 'ok' }>['issued']

/** Prints the result. With an operator's token `init` may be repeated, so an existing platform is then no failure. */
function reportAll({ api, broker }: Issued, result: Initialized): number {
  printResult(result)
  const plain = (identity: Issued['api']) =>
    identity && { roleId: identity.roleId, secretId: identity.secretId.reveal() }
  const issued = { api: plain(api), broker: plain(broker) }
  if (api !== undefined || broker !== undefined)
    printMessage(
      'Add the values under secretsStore below to the configuration. The secret ids are shown once.',
    )
  const made = {
    ...(result.kind === 'done' ? { token: result.token } : {}),
    ...(api !== undefined || broker !== undefined ? { secretsStore: issued } : {}),
  }
  process.stdout.write(`${JSON.stringify(made, undefined, 2)}\n`)
  return result.kind === 'secrets_store_unavailable' ? 1 : 0
}

function printResult(result: Initialized): void {
  if (result.kind === 'secrets_store_unavailable')
    printMessage(
      'The secrets store does not answer or refuses; nothing was made. Check secretsStore.address and its identity, then run this again.',
    )
  else if (result.kind === 'already')
    printMessage(
      `The platform exists already (tenant ${result.tenant}). If its first token is lost, run: holdfast-server init --reissue`,
    )
  else
    printMessage(
      `Platform tenant ${result.tenant}. The token below is shown once and is valid until ${result.expiresAt}.`,
    )
}
