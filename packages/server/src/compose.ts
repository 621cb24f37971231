// Composes one server process: adapters, store, operations, endpoints, loops. No other file knows all of these parts.

import { fileURLToPath } from 'node:url'
import { parseRegistryHost } from '@holdfast/core'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { AnyEndpoint } from './api/endpoint.ts'
import { type ConnectionTimes, createHttpServer } from './api/http-server.ts'
import { createMetrics, type MetricSources, type Metrics } from './api/metrics.ts'
import { openApiDocument } from './api/pages/open-api.ts'
import { openPages } from './api/pages/pages.ts'
import { createAuthenticate, isLiveCaller } from './api/request/authenticate.ts'
import { createFailedAttempts } from './api/request/failed-attempts.ts'
import { createHoldBack } from './api/request/hold-back.ts'
import { createRateLimit } from './api/request/rate-limit.ts'
import { metricsEndpoint } from './api/routes/metrics.ts'
import { createExecUpgrades, type ExecUpgrades } from './api/streams/exec-upgrade.ts'
import { type AnswerUi, createAnswerUi } from './api/ui/answer-ui.ts'
import { loadUiFiles } from './api/ui/load-files.ts'
import { type BrokerSide, composeBroker } from './compose-broker.ts'
import { composeClientCertificates } from './compose-clients.ts'
import { composeEndpoints } from './compose-endpoints.ts'
import { startLoops } from './compose-loops.ts'
import { type NodeSide, startNodeSide } from './compose-nodes.ts'
import { type Config, identitiesOf } from './config/schema.ts'
import { connectEtcd, connectSecretsWriter, readExpiries, readServerTls } from './connect-engines.ts'
import { createHeadCheck } from './gateway/peers/cluster-proof.ts'
import { type KnownStoreFile, openKnownStoreFile } from './lifecycle/known-store-file.ts'
import { recogniseStore } from './lifecycle/recognise-store.ts'
import { noteRevocations, openRevocationsFile } from './lifecycle/revocations-file.ts'
import { createStorePressure, type StorePressure } from './loops/store-pressure.ts'
import type { CertificatePair } from './net/certificate-chain.ts'
import { type ClientAddress, createClientAddress, isWithin } from './net/client-address.ts'
import type { ConnectionLimits } from './net/limit-connections.ts'
import { createAnnouncement } from './net/next-authorities.ts'
import { serveCertificate } from './net/serving-certificate.ts'
import { serveUpgrades } from './net/upgrade.ts'
import { createChangeLog } from './operations/changes/change-log.ts'
import { type AuditStream, createAuditStream } from './operations/events/audit-stream.ts'
import { createReadingLog, type ReadingLog } from './operations/events/reading-log.ts'
import { countHolds } from './operations/nodes/count-holds.ts'
import {
  type Confirmations,
  countConfirmations,
  countUnconfirmed,
} from './operations/nodes/trusted-authorities.ts'
import { createUseNotes } from './operations/sign-ins/sign-in-record.ts'
import { findTenant } from './operations/tenants/tenant-names.ts'
import { countVolumes } from './operations/volumes/count-volumes.ts'
import { createMeasurements } from './operations/volumes/measure-volumes.ts'
import { createLagSampler } from './operations/volumes/sample-lag.ts'
import { type Secret, secret } from './ports/secret.ts'
import { createQuotas } from './quotas/quotas.ts'
import { createSlotAllocator } from './quotas/slots.ts'
import type { NewerFormatError } from './store/format.ts'
import { createStoreProbe, type StoreProbe } from './store/probe-store.ts'
import type { RestoredStoreError } from './store/restored.ts'
import { openStore, type Store, type StoreOptions } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface Server {
  readonly http: FastifyInstance
  readonly store: Store
  /** All endpoints, for the OpenAPI check and the tests that call every endpoint. */
  readonly endpoints: readonly AnyEndpoint[]
  /** Serves new connections with another certificate. Throws if certificate and key are unusable; the old pair then stays. */
  replaceCertificate(pair: CertificatePair): void
  /** The certificate that the listener serves now; undefined for plain HTTP. */
  servedCertificate(): CertificatePair | undefined
  /** Which nodes have confirmed that they trust the root with this fingerprint. */
  confirmationsOf(pin: string): Confirmations
  /** Uses the files of the certificates for etcd and the secrets store as they are now. Never rejects. */
  renewClientCertificates(): Promise<void>
  /** Makes /readyz fail and asks clients to close their connections, so that they choose another server replica. */
  announceStop(): void
  /**
   * Stops: the listener closes and the shards are released at once, pending requests end, and the sessions of agents end at
   * random times within `spreadMs`.
   */
  close(spreadMs?: number): Promise<void>
}

/** The store cannot be used by this server any longer: it is written in a newer form, or it was restored. */
export type UnusableStore = NewerFormatError | RestoredStoreError

/**
 * `onUnusable` is called when this server must not use the store any longer; it must then end. Throws an UnusableStore if
 * that is found before the server has started. `connect` connects to the key-value store; tests may use one in memory.
 */
export async function composeServer(
  config: Config,
  log: Logger,
  onUnusable: (error: UnusableStore) => void = () => {},
  stateFolder = config.stateFolder,
  secretIdExpiries: MetricSources['secretIdExpiries'] = () => new Map(),
  connect: typeof connectEtcd = connectEtcd,
): Promise<Server> {
  const clients = composeClientCertificates(config, log)
  const engine = connect(config, log, clients.etcd)
  const audit = createAuditStream(log)
  const events = { onNewerFormat: onUnusable, onRestored: onUnusable, ...logRecords(log, audit) }
  const { finalize } = config.upgrade
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, finalize, ...events })
  const chain = await recogniseStore({ store, clock, ids, file: knownStoreFile(stateFolder, log) })
  const endNotes = startRevocationNotes(store, stateFolder, log)
  const secrets = writes(config) ? connectSecretsWriter(config, clients.secretsStore) : undefined
  const pressure = createStorePressure(engine, config.etcd.quotaBytes, (alarms) => logAlarms(log, alarms))
  const slots = createSlotAllocator(store, (limit) => Math.floor(Math.random() * limit))
  const quotas = createQuotas(store, slots, config.quotas, () => pressure.ratio, clock)
  // If no cluster key is configured, the key is random, so that internal calls of other server replicas are rejected.
  const clusterKey = config.cluster?.key ?? secret(Buffer.from(ids.bytes(32)).toString('base64'))
  const brokerSide = composeBroker({ config, log, store, clusterKey, clients })
  const { broker } = brokerSide
  const listener = composeCertificate(config, log, store)
  const nodeSide = startNodeSide({ config, log, store, broker, quotas, clusterKey, chain, ...listener })
  const defragmentations = new Map<string, number>()
  const metrics = createMetrics({
    ...storeSources(store, pressure, defragmentations),
    holdsSilentNodes: nodeSide.holdsSilentNodes,
    ...{ isCutOff: nodeSide.isCutOff, sessions: nodeSide.sessions, countHolds: () => countHolds(store) },
    scalingDecisions: nodeSide.scalingDecisions,
    environmentAnswers: () => brokerSide.answers,
    ...listener,
    secretIdExpiries,
    ...volumeSources(store, nodeSide),
  })
  const allowed = new Set(config.registries.flatMap(({ host }) => parseRegistryHost(host) ?? []))
  const [probe, changes] = [createStoreProbe(engine, store), createChangeLog(store)]
  const readings = startReadingLog(store, log)
  const parts = { config, store, broker, slots, quotas, pressure, allowed, changes, readings }
  const { certificate, servedCertificate, confirmationsOf } = listener
  const given = { ...parts, ...nodeSide, isCurrent: probe.caughtUp, servedCertificate }
  const endpoints = [
    ...(config.roles.includes('api') && secrets !== undefined ? composeEndpoints({ ...given, secrets }) : []),
    ...(config.metrics.open ? [] : [metricsEndpoint(metrics)]),
  ]
  const stopping = new AbortController()
  const clientAddress = createClientAddress(config.listen.trustedProxies)
  const served = { config, log, audit, store, probe, endpoints, metrics, clientAddress, clusterKey }
  const sides = { nodeSide, brokerSide, servedCertificate, isStopping: () => stopping.signal.aborted }
  const http = composeHttp({ ...served, ...sides })
  const execs = composeExecs({ config, log, store, nodeSide, clientAddress })
  serveUpgrades(http.server, [execs.take, nodeSide.handleUpgrade])
  const loops =
    secrets === undefined
      ? []
      : startLoops({ ...parts, clients, log, engine, secrets, replica: nodeSide.replica, defragmentations })
  return {
    http,
    store,
    endpoints,
    ...{ servedCertificate, confirmationsOf },
    replaceCertificate: (pair) => certificate.replace(http.server, pair),
    renewClientCertificates: clients.check,
    announceStop: () => stopping.abort(),
    async close(spreadMs = 0) {
      stopping.abort()
      execs.close()
      await closeParts({ nodeSide, http, changes, loops }, spreadMs)
      await readings.close()
      endNotes()
      store.close()
      engine.close()
    },
  }
}

function logAlarms(log: Logger, alarms: readonly string[]): void {
  if (alarms.length === 0) log.info({}, 'etcd alarms cleared')
  else log.error({ alarms }, 'etcd alarm raised, see docs/guides/configuration.md')
}

/** The certificate of the listener, and the roots to which it will change. */
function composeCertificate(config: Config, log: Logger, store: Store) {
  const certificate = serveCertificate(readServerTls(config))
  const announced = createAnnouncement(certificate.current, Date.now, (why) =>
    log.error({ why }, 'no next authorities announced, correct the file of listen.tls.nextCa and reload'),
  )
  return {
    certificate,
    servedCertificate: certificate.current,
    nextAuthorities: () => announced().map(({ pem }) => pem),
    certificateExpiries: () => readExpiries(config),
    unconfirmedAuthorities: () => countUnconfirmed(store, announced()),
    confirmationsOf: (pin: string) => countConfirmations(store, pin),
  }
}

const startReadingLog = (store: Store, log: Logger): ReadingLog =>
  createReadingLog({
    ...{ store, clock, ids },
    onFailure: (error) =>
      log.warn({ error: String(error) }, 'audit of log reads could not be written, retrying'),
  })

interface ExecParts extends Pick<HttpDeps, 'config' | 'log' | 'store' | 'clientAddress'> {
  readonly nodeSide: Pick<NodeSide, 'openStream'>
}

const composeExecs = ({ config, log, store, nodeSide, clientAddress }: ExecParts): ExecUpgrades =>
  createExecUpgrades({
    ...{ store, clock, log, clientAddress },
    openStream: nodeSide.openStream,
    failedTickets: createFailedAttempts(config.rates.failedJoinsPerMinute, clock),
    publicUrl: config.publicUrl,
    newRequestId: () => `req_${ids.ulid()}`,
  })

interface Closing {
  readonly nodeSide: Pick<NodeSide, 'stop' | 'closeSessions'>
  readonly http: Pick<FastifyInstance, 'close'>
  readonly changes: { close(): void }
  readonly loops: readonly { stop(): Promise<void> }[]
}

/** The HTTP server ends after the sockets of agents and pending requests; shards are released without waiting for it. */
async function closeParts({ nodeSide, http, changes, loops }: Closing, spreadMs: number): Promise<void> {
  const serving = async () => {
    await http.close()
    changes.close()
  }
  const stops = [nodeSide, ...loops].map((part) => part.stop())
  await Promise.all([nodeSide.closeSessions(spreadMs), serving(), ...stops])
}

const storeSources = (
  store: Store,
  pressure: StorePressure,
  defragmentations: ReadonlyMap<string, number>,
): Pick<MetricSources, 'storePressure' | 'storeSize' | 'defragmentations' | 'cacheRevision'> => ({
  storePressure: () => pressure.ratio,
  storeSize: () => pressure.size,
  defragmentations: () => defragmentations,
  cacheRevision: () => store.revision,
})

const volumeSources = (
  store: Store,
  { callMeasure }: Pick<NodeSide, 'callMeasure'>,
): Pick<MetricSources, 'countVolumes' | 'volumeLag'> => {
  const nowMs = () => performance.now()
  const measurements = createMeasurements(callMeasure, nowMs)
  return {
    countVolumes: () => countVolumes(store),
    volumeLag: createLagSampler({ store, measurements, nowMs }),
  }
}

function knownStoreFile(folder: string | undefined, log: Logger): KnownStoreFile | undefined {
  if (folder === undefined) {
    log.info({}, 'no state folder, a restored etcd is not recognised after a restart; set stateFolder')
    return undefined
  }
  return openKnownStoreFile(folder, (error) =>
    log.error({ folder, error: String(error) }, 'file of the known store is unusable'),
  )
}

function startRevocationNotes(store: Store, folder: string | undefined, log: Logger): () => void {
  if (folder === undefined) return () => {}
  const file = openRevocationsFile(folder, (error) =>
    log.error({ folder, error: String(error) }, 'file of revocations is unusable'),
  )
  return noteRevocations(store, clock, file)
}

const logRecords = (log: Logger, audit: AuditStream): Pick<StoreOptions, 'onUnreadable' | 'onAudited'> => ({
  onAudited: audit.stored,
  onUnreadable: (key, error) => log.error({ key, error: String(error) }, 'stored record cannot be decoded'),
})

interface HttpDeps {
  readonly config: Config
  readonly log: Logger
  readonly audit: AuditStream
  readonly store: Store
  readonly probe: StoreProbe
  readonly endpoints: readonly AnyEndpoint[]
  readonly metrics: Metrics
  readonly nodeSide: Pick<NodeSide, 'internalCall'>
  readonly brokerSide: Pick<BrokerSide, 'call'>
  readonly clientAddress: ClientAddress
  readonly clusterKey: Secret
  servedCertificate(): CertificatePair | undefined
  isStopping(): boolean
}

const LOOPBACK = ['127.0.0.0/8', '::1']
const REFUSED_LOG_MS = 60_000

/** The limits of the listener. Refused connections are logged once a minute, because an attacker chooses their number. */
function connectionLimits({ listen }: Config, log: Logger): ConnectionLimits & ConnectionTimes {
  let refused = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    maxConnections: listen.maxConnections,
    halfOpenPerAddress: listen.halfOpenPerAddress,
    isExempt: isWithin([...LOOPBACK, ...listen.trustedProxies]),
    headersMs: listen.headersSeconds * 1000,
    requestMs: listen.requestSeconds * 1000,
    onRefused(address) {
      refused += 1
      if (performance.now() - loggedAt < REFUSED_LOG_MS) return
      loggedAt = performance.now()
      log.warn(
        { address, refused },
        'connections refused, see listen.maxConnections and listen.halfOpenPerAddress',
      )
      refused = 0
    },
  }
}

/** The dashboard that is installed beside this package. */
const INSTALLED_UI = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))

function composeUi({ ui, roles }: Config, log: Logger): AnswerUi | undefined {
  if (!ui.enabled || !roles.includes('api')) return undefined
  const folder = ui.folder ?? INSTALLED_UI
  const files = loadUiFiles(folder)
  if (files === undefined) {
    log.warn({ folder }, 'no built dashboard found, /ui/ is not served; build it or set ui.enabled to false')
    return undefined
  }
  return createAnswerUi(files, () => Buffer.from(ids.bytes(16)).toString('base64'))
}

/** Whether a role of this process writes to the secrets store; only then the process needs an identity there. */
const writes = ({ roles }: Config): boolean => identitiesOf(roles).includes('api')

function composeHttp(deps: HttpDeps): FastifyInstance {
  const { config, log, store, probe, endpoints, metrics, nodeSide, isStopping } = deps
  const { call } = deps.brokerSide
  const pages = openPages({
    metrics,
    metricsOpen: config.metrics.open,
    openApi: () => document,
    endpoints,
    limits: config.limits,
    keyValueStoreConnected: probe.connected,
    storeFault: () => store.fault,
    ready: async () => !isStopping() && (await probe.caughtUp()),
  })
  const document = openApiDocument(endpoints, pages, config.publicUrl)
  return createHttpServer({
    endpoints,
    pages,
    gate: {
      authenticate: createAuthenticate(store, clock),
      rateLimit: createRateLimit(config.rates, clock),
      holdBack: createHoldBack(),
      findTenant: (idOrName) => findTenant(store, idOrName),
      fresh: () => store.fresh(),
      isLive: (caller) => isLiveCaller(store, caller),
      noteUse: createUseNotes({ store, clock }, (error) =>
        log.warn({ error: String(error) }, 'use of a sign-in could not be written, retrying'),
      ),
    },
    log,
    audit: deps.audit,
    metrics,
    publicUrl: config.publicUrl,
    bodyBytes: config.limits.bodyBytes,
    bodyDepth: config.limits.bodyDepth,
    headerBytes: config.limits.headerBytes,
    tls: deps.servedCertificate(),
    isStopping,
    clientAddress: deps.clientAddress,
    ui: composeUi(config, log),
    internalCalls: {
      node: nodeSide.internalCall,
      judgeHead: createHeadCheck(deps.clusterKey, clock),
      ...(call === undefined ? {} : { broker: call }),
    },
    connections: connectionLimits(config, log),
    newRequestId: () => `req_${ids.ulid()}`,
  })
}
