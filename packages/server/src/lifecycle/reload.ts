// Applies what may change while the server runs: the listener's certificate, the log level and the secrets. A faulty
// configuration or certificate changes nothing and is logged with the remedy.

import { changedSettings } from '../config/changed-settings.ts'
import { explainFault } from '../config/config-fault.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { readServerTls } from '../connect-engines.ts'
import {
  type CertificatePair,
  explainChainFault,
  judgeChain,
  rootOf,
  rootPinOf,
} from '../net/certificate-chain.ts'
import { readNextAuthorities } from '../net/next-authorities.ts'
import { type Confirmations, describeUnconfirmed } from '../operations/nodes/trusted-authorities.ts'

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
  /** Which nodes have confirmed that they trust the root with this fingerprint. */
  confirmationsOf(pin: string): Confirmations
  now(): number
}

/** Settings that take effect without a restart. */
const APPLIED: ReadonlySet<string> = new Set([
  'listen.tls.cert',
  'listen.tls.key',
  'listen.tls.ca',
  'listen.tls.nextCa',
  'log.level',
])

export interface Reload {
  /** The configuration as it was loaded last. */
  readonly config: Config
  /** Loads the configuration again and applies what may change. */
  all(): void
  /** Serves the certificate files of the configuration as they are now. A repeated refusal is logged once. */
  certificate(): void
  /** Whether the files were refused: they are tried again, because nodes may have confirmed their root since. */
  readonly isRefused: boolean
}

/** `initial`: the configuration with which the server was started. */
export function createReload(initial: Config, deps: ReloadDeps): Reload {
  const { log } = deps
  let latest = initial
  let refused: string | undefined
  const certificate = (): void => {
    const why = reloadCertificate(initial, latest, deps)
    if (why !== undefined && why !== refused) log.error({ ...filesOf(latest), error: why }, NOT_REPLACED)
    refused = why
  }
  return {
    get config() {
      return latest
    },
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
      refused = undefined
      certificate()
      const ignored = changedSettings(initial, latest).filter((path) => !APPLIED.has(path))
      if (ignored.length > 0)
        log.warn({ settings: ignored }, 'changed settings need a restart of this server')
    },
    certificate,
    get isRefused() {
      return refused !== undefined
    },
  }
}

const NOT_REPLACED =
  'certificate not replaced, the previous one is still served; correct the files of listen.tls and reload again'

const filesOf = ({ listen: { tls } }: Config) => ({ cert: tls?.cert, key: tls?.key })

/** Returns why the files were refused. */
function reloadCertificate(initial: Config, config: Config, deps: ReloadDeps): string | undefined {
  const { log } = deps
  const { cert } = filesOf(config)
  if ((initial.listen.tls === undefined) !== (config.listen.tls === undefined)) {
    log.error({}, 'listener not changed between HTTP and HTTPS, restart this server')
    return undefined
  }
  try {
    const pair = readServerTls(config)
    if (pair === undefined) return undefined
    const next = announce(pair, deps)
    deps.replaceCertificate({ ...servable(pair, deps), next })
    log.info({ cert }, 'certificate replaced')
    return undefined
  } catch (error) {
    return String(error)
  }
}

/**
 * Announces the next roots, also if the new pair turns out to be unusable: it may be so because its root was not announced to nodes.
 * Returns the text that is announced now.
 */
function announce({ next }: CertificatePair, deps: ReloadDeps): string | undefined {
  const before = deps.served()
  if (before === undefined || next === before.next) return next
  try {
    const pins = readNextAuthorities(next, deps.now()).map(({ pin }) => pin)
    deps.replaceCertificate({ ...before, next })
    deps.log.info({ authorities: pins }, 'next authorities announced to nodes')
    return next
  } catch (error) {
    deps.log.error(
      { error: String(error) },
      'next authorities not announced, the previous ones still are; correct the file of listen.tls.nextCa and reload again',
    )
    return before.next
  }
}

/**
 * The pair with the root that nodes have pinned, even if its file lacks it. Throws if clients would refuse the pair, or if nodes
 * would: they trust the root that was pinned when they enrolled, and those that they have confirmed since.
 */
function servable(next: CertificatePair, { served, now, confirmationsOf }: ReloadDeps): CertificatePair {
  const before = served()
  const root = before && rootOf(before)
  const pair = root === undefined ? next : { ...next, roots: `${next.roots ?? ''}${root}` }
  const faults = judgeChain(pair, now()).filter(({ kind }) => kind !== 'no_root')
  if (faults.length > 0) throw new Error(faults.map((fault) => explainChainFault(fault).found).join('; '))
  if (root === undefined || rootOf(pair) === root) return pair
  const pin = rootPinOf(pair)
  const confirmations = pin === undefined ? undefined : confirmationsOf(pin)
  if (confirmations?.unconfirmed.length === 0) return pair
  throw new Error(
    `the chain leads to another root than the one that nodes pin${confirmations === undefined ? '' : `, and ${describeUnconfirmed(confirmations)} have not confirmed it`}; name the root in listen.tls.nextCa and wait for the nodes, or restart this server to serve the chain nevertheless`,
  )
}
