// Applies what may change while the server runs: the listener's certificate, the log level and the secrets. A faulty
// configuration or certificate changes nothing and is logged with the remedy.

import { changedSettings } from '../config/changed-settings.ts'
import { explainFault } from '../config/config-fault.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { readServerTls } from '../connect-engines.ts'
import type { CertificatePair } from '../net/certificate-chain.ts'

type Log = (fields: object, message: string) => void

/** The members of a pino logger that a reload uses. */
interface ReloadLog {
  level: string
  readonly info: Log
  readonly warn: Log
  readonly error: Log
}

interface ReloadDeps {
  readonly log: ReloadLog
  load(): LoadedConfig
  useSecrets(config: Config): void
  replaceCertificate(pair: CertificatePair): void
}

/** Settings that take effect without a restart. */
const APPLIED: ReadonlySet<string> = new Set(['listen.tls.cert', 'listen.tls.key', 'log.level'])

/** Returns the function that reloads. `initial`: the configuration with which the server was started. */
export function createReload(initial: Config, deps: ReloadDeps): () => void {
  const { log } = deps
  return () => {
    const loaded = deps.load()
    if (!loaded.ok) {
      const faults = loaded.faults.map(explainFault)
      log.error({ faults }, 'configuration not reloaded, correct the faults and reload again')
      return
    }
    const { config } = loaded
    deps.useSecrets(config)
    log.level = config.log.level
    log.info({}, 'configuration reloaded')
    reloadCertificate(initial, config, deps)
    const ignored = changedSettings(initial, config).filter((path) => !APPLIED.has(path))
    if (ignored.length > 0) log.warn({ settings: ignored }, 'changed settings need a restart of this server')
  }
}

function reloadCertificate(initial: Config, config: Config, { log, replaceCertificate }: ReloadDeps): void {
  const { cert, key } = config.listen.tls ?? {}
  if ((initial.listen.tls === undefined) !== (config.listen.tls === undefined)) {
    log.error({}, 'listener not changed between HTTP and HTTPS, restart this server')
    return
  }
  try {
    const pair = readServerTls(config)
    if (pair === undefined) return
    replaceCertificate(pair)
    log.info({ cert }, 'certificate replaced')
  } catch (error) {
    log.error(
      { cert, key, error: String(error) },
      'certificate not replaced, the previous one is still served; correct the files of listen.tls and reload again',
    )
  }
}
