// A complete control plane for tests: the real server in this process, with its own key root and tenants. The real etcd,
// secrets store and registry are shared by all tests of the test worker; the records may be in memory instead.

import { composeServer, type Server } from '@holdfast/server/compose'
import { loadConfig } from '@holdfast/server/config/load-config'
import type { Config } from '@holdfast/server/config/schema'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import { listenAt } from '@holdfast/server/net/limit-connections'
import { initialize } from '@holdfast/server/operations/tenants/initialize'
import { openStore } from '@holdfast/server/store/store'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import {
  freePort,
  type Registry,
  type SecretsStore,
  sharedEtcd,
  sharedRegistry,
  sharedSecretsStore,
  uniqueName,
  uniqueRepository,
} from '@holdfast/testkit'
import pino, { type Logger } from 'pino'
import { readEvents } from '../received/read-events.ts'
import { type ApiClient, createApiClient } from './api-client.ts'
import { connectStore, forgetStore, MEMORY_ENDPOINT } from './connect-store.ts'
import { makeToken, provision } from './set-up.ts'

interface TestTenant {
  readonly id: string
  readonly name: string
  /** An API token of the tenant with the role tenant-admin. */
  readonly token: string
}

export interface Platform {
  readonly baseUrl: string
  readonly root: string
  readonly config: Config
  readonly server: Server
  readonly platformToken: string
  readonly acme: TestTenant
  readonly globex: TestTenant
  /** Reference of an image in the registry, pinned by digest. */
  readonly image: string
  readonly registryHost: string
  /** Address of this host at which further servers of the platform listen; by default loopback. */
  readonly serverHost?: string
  /** Every line that the server has logged. */
  readonly logLines: string[]
  api(token?: string): ApiClient
  stop(): Promise<void>
}

export interface PlatformOptions {
  /** Server settings that override those of the test platform, in the form of the configuration file. */
  readonly settings?: { readonly [name: string]: unknown }
  readonly endpoints?: readonly string[]
  /** Keeps the records in the memory of this process (connect-store.ts); by default they are in etcd. */
  readonly inMemory?: boolean
  readonly secretsStore?: SecretsStore
  readonly registry?: Registry
  readonly root?: string
  readonly log?: Logger
}

const FAST = {
  requestsPerMinute: 1_000_000,
  burst: 1_000_000,
  failedJoinsPerMinute: 10_000,
  failedSignInsPerMinute: 10_000,
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const [endpoints, secrets, registry] = await Promise.all([
    endpointsOf(options),
    options.secretsStore ?? sharedSecretsStore(),
    options.registry ?? sharedRegistry(),
  ])
  const port = await freePort()
  const root = options.root ?? `/${uniqueName('test')}`
  const identities = await (options.secretsStore === undefined
    ? sharedIdentities(secrets)
    : provision(secrets.address, secrets.rootToken))
  const config = configOf({
    listen: { host: '127.0.0.1', port, drainSeconds: 0 },
    publicUrl: `http://127.0.0.1:${port}`,
    etcd: { endpoints, root },
    secretsStore: { address: secrets.address, ...identities },
    registries: [{ host: registry.host, plainHttp: true, allowAddress: true }],
    // No controllers run, because tests that count the writes of a request must not see writes of controllers.
    roles: ['api', 'broker'],
    rates: FAST,
    ...options.settings,
  })
  const logLines: string[] = []
  const log = options.log ?? pino({ level: 'debug', base: null }, { write: (line) => logLines.push(line) })
  const platformToken = await firstToken(config, log)
  const server = await compose(config, log)
  await server.http.listen(listenAt(config.listen))
  const baseUrl = config.publicUrl
  const api = (token = platformToken) => createApiClient(baseUrl, token)
  const { reference } = await registry.pushSampleImage(uniqueRepository(), '1.0')
  const [acme, globex] = await Promise.all([makeTenant(api(), 'acme'), makeTenant(api(), 'globex')])
  return {
    baseUrl,
    root,
    config,
    server,
    platformToken,
    acme,
    globex,
    image: reference,
    registryHost: registry.host,
    logLines,
    api,
    async stop() {
      await readEvents(api())
      await server.close()
      forgetStore(config)
    },
  }
}

export interface Replica {
  readonly baseUrl: string
  readonly server: Server
  readonly logLines: string[]
  api(token: string): ApiClient
  stop(): Promise<void>
}

export interface ReplicaPlace {
  readonly host?: string
  /** Port of the server, for a server that is restarted at its address. */
  readonly port?: number
  /** Paths of the server's certificate and key as PEM files, and of the authority if the certificate's file lacks it. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string }
}

/** Starts another server replica of the same platform, with the same etcd and key root, and its own port and cache. */
export async function startReplica(
  platform: Platform,
  settings: Partial<Config> = {},
  { host = platform.serverHost ?? '127.0.0.1', port: wanted, tls }: ReplicaPlace = {},
): Promise<Replica> {
  const port = wanted ?? (await freePort())
  const baseUrl = `${tls === undefined ? 'http' : 'https'}://${host}:${port}`
  const logLines: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: (line) => logLines.push(line) })
  const { tls: _own, ...shared } = platform.config.listen
  const listen = { ...shared, host, port, drainSeconds: 0, ...(tls === undefined ? {} : { tls }) }
  const server = await compose({ ...platform.config, ...settings, listen, publicUrl: baseUrl }, log)
  await server.http.listen(listenAt({ host, port }))
  return {
    baseUrl,
    server,
    logLines,
    api: (token) => createApiClient(baseUrl, token),
    stop: () => server.close(),
  }
}

let ofSharedStore: ReturnType<typeof provision> | undefined

/** The identities of all platforms that use the shared secrets store: the mounts of their tenants keep them apart. */
function sharedIdentities({ address, rootToken }: SecretsStore): ReturnType<typeof provision> {
  ofSharedStore ??= provision(address, rootToken)
  return ofSharedStore
}

async function endpointsOf({ endpoints, inMemory }: PlatformOptions): Promise<readonly string[]> {
  if (inMemory === true) return [MEMORY_ENDPOINT]
  return endpoints ?? (await sharedEtcd()).endpoints
}

const compose = (config: Config, log: Logger): Promise<Server> =>
  composeServer(config, log, undefined, undefined, undefined, connectStore)

function configOf(settings: object): Config {
  const loaded = loadConfig({ text: JSON.stringify(settings), env: {} })
  if (loaded.ok) return loaded.config
  throw new Error(`test configuration: ${JSON.stringify(loaded.faults)}`)
}

async function firstToken(config: Config, log: Logger): Promise<string> {
  const engine = connectStore(config, log)
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable: () => {} })
  const made = await initialize(
    { store, clock, ids, secrets: connectSecretsWriter(config) },
    { reissue: true },
  )
  store.close()
  engine.close()
  if (made.kind !== 'done') throw new Error(`setting up the platform failed: ${made.kind}`)
  return made.token
}

export async function makeTenant(api: ApiClient, name: string): Promise<TestTenant> {
  const { status, body: tenant, text } = await api.post('/api/v1/tenants', { name })
  if (status !== 201) throw new Error(`creating a tenant failed: ${text}`)
  const id = String(tenant['id'])
  return { id, name, token: await makeToken(api, id, 'tenant-admin') }
}
