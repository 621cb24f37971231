// Applies what may change while the server runs: the listener's certificate, the log level and the secrets. A faulty
// configuration or certificate changes nothing and is logged with the remedy.

import { changedSettings } from '../config/changed-settings.ts'
import { explainFault } from '../config/config-fault.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { readServerTls } from '../connect-engines.ts'
import { type CertificatePair, explainChainFault, judgeChain, rootOf } from '../net/certificate-chain.ts'

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
  /** The pair that the listener serves now. */
  served(): CertificatePair | undefined
  now(): number
}

/** Settings that take effect without a restart. */
const APPLIED: ReadonlySet<string> = new Set([
  'listen.tls.cert',
  'listen.tls.key',
  'listen.tls.ca',
  'log.level',
])

export interface Reload {
  /** Loads the configuration again and applies what may change. */
  all(): void
  /** Serves the certificate files of the configuration as they are now. */
  certificate(): void
}

/** `initial`: the configuration with which the server was started. */
export function createReload(initial: Config, deps: ReloadDeps): Reload {
  const { log } = deps
  let latest = initial
  return {
    all() {
      const loaded = deps.load()
      if (!loaded.ok) {
        const faults = loaded.faults.map(explainFault)
        log.error({ faults }, 'configuration not reloaded, correct the faults and reload again')
        return
      }
      latest = loaded.config
      deps.useSecrets(latest)
      log.level = latest.log.level
      log.info({}, 'configuration reloaded')
      reloadCertificate(initial, latest, deps)
      const ignored = changedSettings(initial, latest).filter((path) => !APPLIED.has(path))
      if (ignored.length > 0)
        log.warn({ settings: ignored }, 'changed settings need a restart of this server')
    },
    certificate: () => reloadCertificate(initial, latest, deps),
  }
}

function reloadCertificate(initial: Config, config: Config, deps: ReloadDeps): void {
  const { log, replaceCertificate } = deps
  const { cert, key } = config.listen.tls ?? {}
  if ((initial.listen.tls === undefined) !== (config.listen.tls === undefined)) {
    log.error({}, 'listener not changed between HTTP and HTTPS, restart this server')
    return
  }
  try {
    const pair = readServerTls(config)
    if (pair === undefined) return
    replaceCertificate(servable(pair, deps))
    log.info({ cert }, 'certificate replaced')
  } catch (error) {
    log.error(
      { cert, key, error: String(error) },
      'certificate not replaced, the previous one is still served; correct the files of listen.tls and reload again',
    )
  }
}

/**
 * The pair with the root that nodes have pinned, even if its file lacks it. Throws if clients would refuse the pair, or if nodes
 * would: they trust only the root that was pinned when they enrolled.
 */
function servable(next: CertificatePair, { served, now }: ReloadDeps): CertificatePair {
  const before = served()
  const root = before && rootOf(before)
  const pair = root === undefined ? next : { ...next, roots: `${next.roots ?? ''}${root}` }
  const faults = judgeChain(pair, now()).filter(({ kind }) => kind !== 'no_root')
  if (faults.length > 0) throw new Error(faults.map((fault) => explainChainFault(fault).found).join('; '))
  if (root !== undefined && rootOf(pair) !== root)
    throw new Error(
      'the chain leads to another root than the one that nodes pin; restart this server to serve it nevertheless',
    )
  return pair
}
