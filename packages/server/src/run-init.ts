// `holdfast-server init`: a short-lived composition of store and secrets store, and what it prints. The token goes to
// standard output alone, so that a script can take it; the talk goes to standard error.

import pino from 'pino'
import type { Config } from './config/schema.ts'
import { connectEtcd, connectSecretsWriter } from './connect-engines.ts'
import { type Initialised, initialise } from './operations/initialise.ts'
import { realClock as clock, realIds as ids } from './real-world.ts'
import { openStore } from './store/store.ts'

export async function runInit(config: Config, reissue: boolean): Promise<number> {
  const log = pino({ level: 'error' }, process.stderr)
  const engine = connectEtcd(config, log)
  const store = await openStore({
    engine,
    clock,
    ids,
    root: config.etcd.root,
    onUnreadable: (key) => log.error({ key }, 'a stored record cannot be read'),
  })
  try {
    return report(await initialise({ store, clock, ids, secrets: connectSecretsWriter(config) }, { reissue }))
  } finally {
    store.close()
    engine.close()
  }
}

function report(result: Initialised): number {
  if (result.kind === 'secrets_store_unavailable') {
    process.stderr.write(
      'The secrets store does not answer or refuses; nothing was made. Check secretsStore.address and its identity, then run this again.\n',
    )
    return 1
  }
  if (result.kind === 'already') {
    process.stderr.write(
      `The platform exists already (tenant ${result.tenant}). If its first token is lost, run: holdfast-server init --reissue\n`,
    )
    return 1
  }
  process.stderr.write(
    `Platform tenant ${result.tenant}. The token below is shown once and is valid until ${result.expiresAt}.\n`,
  )
  process.stdout.write(`${result.token}\n`)
  return 0
}
