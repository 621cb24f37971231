// Serves until a signal: starts the server, reports its readiness to systemd, and shuts it down cleanly.

import { readFileSync } from 'node:fs'
import { env } from 'node:process'
import pino, { type Logger } from 'pino'
import { composeServer, type Server, type UnusableStore } from '../compose.ts'
import { followSecrets } from '../config/live-secrets.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { listenAt } from '../net/limit-connections.ts'
import { withoutTaint } from '../ports/taint.ts'
import { RestoredStoreError } from '../store/restored.ts'
import { drain } from './drain.ts'
import { notifySystemd, type ServiceState } from './notify-systemd.ts'
import { createReload } from './reload.ts'
import { keepSecretIds } from './secret-ids/keep-secret-ids.ts'
import { createCertificateWatch } from './watch-certificates.ts'

/** Longest time that log lines are buffered. Lines are written in blocks: one write per request costs too much. */
const LOG_FLUSH_MS = 200
/** Exit code of a server that cannot read the form in which the store is written. */
const UNREADABLE_STORE = 78
/** Exit code of a server whose etcd was restored from a backup, or has another epoch. */
const RESTORED_STORE = 79

export const exitCodeOf = (error: UnusableStore): number =>
  error instanceof RestoredStoreError ? RESTORED_STORE : UNREADABLE_STORE

/** Longest time for closing connections after the store was found to be unusable. */
const CLOSE_MS = 2_000
/** A renewed certificate is served after at most this time. */
const CERTIFICATE_CHECK_MS = 60_000

function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 })
  setInterval(() => destination.flush(), LOG_FLUSH_MS).unref()
  const hooks = { streamWrite: withoutTaint }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, destination)
}

const notify = (log: Logger, state: ServiceState): Promise<void> =>
  notifySystemd(state, {
    env,
    onFailure: (why) => log.warn({ state, why }, 'state of the service could not be reported to systemd'),
  })

function unstarted(): never {
  throw new Error('the server has not started')
}

/** `load` loads the configuration: once at the start, and again at each SIGHUP. */
export async function serve(initial: Config, load: () => LoadedConfig): Promise<void> {
  const log = openLog(initial.log.level)
  const secrets = followSecrets(initial)
  let server: Server | undefined
  const hurry = new AbortController()
  let stopping = false
  const stop = (): void => {
    if (stopping) hurry.abort()
    if (stopping || server === undefined) return
    stopping = true
    log.info({}, 'draining')
    void notify(log, 'stopping')
    void drain(server, initial.listen.drainSeconds * 1000, hurry.signal).then(() => log.flush())
  }
  const stopAtOnce = (): void => {
    hurry.abort()
    stop()
  }
  const endUnusable = (error: UnusableStore): void => {
    log.fatal({}, error.message)
    process.exitCode = exitCodeOf(error)
    setTimeout(() => process.exit(), CLOSE_MS)
    stopAtOnce()
  }
  const stateFolder = initial.stateFolder ?? env['STATE_DIRECTORY']
  const secretIds = keepSecretIds(secrets, log)
  const starting = composeServer(secrets.config, log, endUnusable, stateFolder, secretIds.expiries)
  const reload = createReload(initial, {
    log,
    load,
    useSecrets: secrets.use,
    replaceCertificate: (pair) => server?.replaceCertificate(pair),
    served: () => server?.servedCertificate(),
    confirmationsOf: (pin) => (server ?? unstarted()).confirmationsOf(pin),
    now: Date.now,
  })
  // Before the server is composed, a SIGHUP would end the process; it waits, because files may have changed since.
  const reloadAll = async ({ renewClientCertificates }: Server): Promise<void> => {
    reload.all()
    await renewClientCertificates()
  }
  process.on('SIGHUP', () => void starting.then(reloadAll).catch(() => {}))
  server = await starting
  await server.http.listen(listenAt(initial.listen))
  log.info({ address: initial.publicUrl }, 'serving')
  const checkCertificates = createCertificateWatch({
    config: () => reload.config,
    read: (path) => readFileSync(path, 'utf8'),
    now: Date.now,
    log,
    reloadCertificate: reload.certificate,
    isRefused: () => reload.isRefused,
  })
  const check = (): void => {
    checkCertificates()
    void server?.renewClientCertificates()
  }
  check()
  setInterval(check, CERTIFICATE_CHECK_MS).unref()
  secretIds.start()
  process.on('SIGTERM', stop)
  // An operator at a terminal does not wait for load balancers.
  process.on('SIGINT', stopAtOnce)
  await notify(log, 'ready')
}
