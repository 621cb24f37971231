// One server process, put together: adapters, store, operations, endpoints, loops. The only place that knows all of them.

import { parseRegistryHost, RESERVED_NAMES } from '@holdfast/core'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createAuthenticate, isLiveToken } from './api/authenticate.ts'
import type { Endpoint } from './api/endpoint.ts'
import { createHttpServer } from './api/http-server.ts'
import { createMetrics, type Metrics } from './api/metrics.ts'
import { openApiDocument } from './api/open-api.ts'
import { openPages } from './api/pages.ts'
import { createRateLimit } from './api/rate-limit.ts'
import { activityEndpoints } from './api/routes/activity.ts'
import { deploymentEndpoints } from './api/routes/deployments.ts'
import { errorEndpoints } from './api/routes/errors.ts'
import { metricsEndpoint } from './api/routes/metrics.ts'
import { registryEndpoints } from './api/routes/registries.ts'
import { tenantEndpoints } from './api/routes/tenants.ts'
import { createBroker } from './broker/create-broker.ts'
import type { Config } from './config/schema.ts'
import {
  connectEtcd,
  connectRegistries,
  connectSecretsReader,
  connectSecretsWriter,
} from './connect-engines.ts'
import { createCompaction } from './loops/compact-history.ts'
import { finishRemovals } from './loops/finish-removals.ts'
import { type Repeating, repeat } from './loops/repeat.ts'
import { applyRetention } from './loops/retention.ts'
import { createStorePressure, type StorePressure } from './loops/store-pressure.ts'
import { sweepIntents } from './loops/sweep-intents.ts'
import type { DeploymentDeps } from './operations/deployments/deps.ts'
import { createIdempotentAnswers } from './operations/idempotency.ts'
import { createStoreProbe, type StoreProbe } from './operations/probe-store.ts'
import { createQuotas } from './operations/quotas.ts'
import { knownTenant } from './operations/tenants.ts'
import type { KeyValueEngine } from './ports/key-value.ts'
import type { SecretsWriter } from './ports/secrets-store.ts'
import { realClock as clock, realIds as ids } from './real-world.ts'
import { removals } from './store/records.ts'
import { createSlotAllocator } from './store/slots.ts'
import { openStore, type Store } from './store/store.ts'

export interface Server {
  readonly http: FastifyInstance
  readonly store: Store
  /** For the OpenAPI check and the tests that walk every endpoint. */
  readonly endpoints: readonly Endpoint[]
  close(): Promise<void>
}

export async function composeServer(config: Config, log: Logger): Promise<Server> {
  const engine = connectEtcd(config, log)
  const store = await openStore({
    engine,
    clock,
    ids,
    root: config.etcd.root,
    onUnreadable: (key, error) => log.error({ key, error: String(error) }, 'a stored record cannot be read'),
  })
  const secrets = connectSecretsWriter(config)
  const pressure = createStorePressure(engine, config.etcd.quotaBytes)
  const metrics = createMetrics({ storePressure: () => pressure.ratio, cacheRevision: () => store.revision })
  const endpoints = [
    ...composeEndpoints(config, store, secrets, pressure),
    ...(config.metrics.open ? [] : [metricsEndpoint(metrics)]),
  ]
  const probe = createStoreProbe(engine, store)
  const http = composeHttp({ config, log, store, probe, endpoints, metrics })
  const loops = startLoops({ config, log, store, engine, secrets, pressure })
  return {
    http,
    store,
    endpoints,
    async close() {
      await http.close()
      await Promise.all(loops.map((loop) => loop.stop()))
      store.close()
      engine.close()
    },
  }
}

function composeEndpoints(
  config: Config,
  store: Store,
  secrets: SecretsWriter,
  pressure: StorePressure,
): Endpoint[] {
  const slots = createSlotAllocator(store, (limit) => Math.floor(Math.random() * limit))
  const quotas = createQuotas(store, slots, config.quotas, () => pressure.ratio)
  const answers = createIdempotentAnswers(store, clock)
  const allowed = new Set(config.registries.flatMap(({ host }) => parseRegistryHost(host) ?? []))
  const broker = createBroker({
    secretsStore: connectSecretsReader(config),
    registry: connectRegistries(config),
  })
  const deployments: DeploymentDeps = {
    store,
    clock,
    ids,
    broker,
    slots,
    quotas,
    answers,
    admission: {
      limits: config.limits,
      reservedNames: new Set([...RESERVED_NAMES, ...config.reservedNames]),
      registries: allowed,
      volumesEnabled: config.volumes.enabled,
    },
    archiveRevisions: config.retention.archiveRevisions,
  }
  return [
    ...deploymentEndpoints(deployments),
    ...activityEndpoints(store),
    ...tenantEndpoints({ store, clock, ids, secrets, answers, quotas }),
    ...registryEndpoints({ store, clock, secrets, allowed }),
    ...errorEndpoints(),
  ]
}

interface HttpDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly probe: StoreProbe
  readonly endpoints: readonly Endpoint[]
  readonly metrics: Metrics
}

function composeHttp({ config, log, store, probe, endpoints, metrics }: HttpDeps): FastifyInstance {
  const pages = openPages({
    metrics,
    metricsOpen: config.metrics.open,
    openApi: () => document,
    keyValueStoreConnected: probe.connected,
    ready: probe.caughtUp,
  })
  const document = openApiDocument(endpoints, pages, config.publicUrl)
  return createHttpServer({
    endpoints,
    pages,
    gate: {
      authenticate: createAuthenticate(store, clock),
      rateLimit: createRateLimit(config.rates, clock),
      tenantExists: (tenant) => knownTenant(store, tenant),
      fresh: () => store.fresh(),
      isLive: (token) => isLiveToken(store, token),
    },
    log,
    metrics,
    publicUrl: config.publicUrl,
    bodyBytes: config.limits.bodyBytes,
    bodyDepth: config.limits.bodyDepth,
    headerBytes: config.limits.headerBytes,
    newRequestId: () => `req_${ids.ulid()}`,
  })
}

interface LoopDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly engine: KeyValueEngine
  readonly secrets: SecretsWriter
  readonly pressure: StorePressure
}

const SECOND_MS = 1000

function startLoops({ config, log, store, engine, secrets, pressure }: LoopDeps): Repeating[] {
  const loop = (name: string, everyMs: number, work: () => Promise<void>) =>
    repeat(everyMs, work, (error) =>
      log.warn({ loop: name, error: String(error) }, 'a loop failed and goes on'),
    )
  const removing = loop('removals', 30 * SECOND_MS, () =>
    finishRemovals({
      store,
      clock,
      removeTenantSecrets: async (tenant) => (await secrets.removeTenant(tenant)).kind === 'ok',
    }),
  )
  store.subscribe((changes) => {
    if (changes.some(({ kind, key }) => kind === 'put' && key.folder === removals.folder)) removing.nudge()
  })
  return [
    removing,
    loop('compaction', 60 * SECOND_MS, createCompaction({ engine, currentRevision: () => store.revision })),
    loop('pressure', 10 * SECOND_MS, pressure.measure),
    loop('retention', 60 * SECOND_MS, () => applyRetention({ store, clock, retention: config.retention })),
    loop('intents', 30 * SECOND_MS, () => sweepIntents({ store, clock, secrets })),
  ]
}
