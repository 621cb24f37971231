// The servers of a lab. From sources they run in this process: one for the API, and one with TLS for the agents. If
// HOLDFAST_PROGRAMS names another build, they are processes of that build with their roles apart, and the server in this process
// only reads the store for the test. The processes run on this host, or each on a machine of the lab's network.

import { join } from 'node:path'
import { defined } from '@holdfast/contract'
import type { Config } from '@holdfast/server/config/schema'
import type { Store } from '@holdfast/server/store/store'
import { ROOT, testedBuild } from '../builds/programs.ts'
import { freePort } from '../free-port.ts'
import type { WireEnd } from '../lab/lab-network.ts'
import { startRelay } from '../lab/relay.ts'
import { createApiClient } from '../platform/api-client.ts'
import { type Platform, type Replica, startReplica } from '../platform/start-platform.ts'
import { makeTempFolder } from '../temp-folder.ts'
import { type PreparedServer, prepareServer } from './server-process.ts'

const LOOPBACK = '127.0.0.1'

export type ServerSettings = Partial<Config>
export type Roles = Config['roles']
export type LabGateway = Pick<Replica, 'baseUrl' | 'logLines'>

/** Where the servers are. */
interface ServersPlace {
  /** The address of this host on the lab's network. */
  readonly host: string
  /** Machines of the lab's network for servers of a build: gateway, API, broker. If there are none, they run on this host. */
  readonly machines: readonly WireEnd[]
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string }
  /** The authority of the servers' certificate as PEM. */
  readonly ca: string
}

export interface LabServers {
  /** The platform at the server that serves the API. */
  readonly platform: Platform
  readonly gateway: LabGateway
  /** The store as a server in this process reads it now. */
  readonly store: Store
  stopGateway(): Promise<void>
  startGateway(): Promise<void>
  /** Ends all servers; `start` starts them at the same addresses, with settings that override those of the platform. */
  stop(): Promise<void>
  start(settings?: ServerSettings): Promise<void>
  /** Ends all servers and removes their files. */
  remove(): Promise<void>
}

/** The roles of the server in this process, on a platform with these roles: one that only reads the store needs no other. */
export const rolesInProcess = (roles: Roles): Roles => (testedBuild() === ROOT ? roles : ['api'])

export function startLabServers(platform: Platform, place: ServersPlace, roles: Roles): Promise<LabServers> {
  const build = testedBuild()
  return build === ROOT ? serversInProcess(platform, place) : serversOfBuild(platform, place, roles, build)
}

async function serversInProcess(platform: Platform, { host, tls }: ServersPlace): Promise<LabServers> {
  let gateway = await startReplica(platform, {}, { host, tls })
  let front: Pick<Replica, 'server' | 'stop'> = platform
  const gatewayAgain = (settings: ServerSettings = {}) =>
    startReplica(platform, settings, { host, port: portOf(gateway), tls })
  const stop = async () => void (await Promise.all([gateway.stop(), front.stop()]))
  return {
    platform,
    get gateway() {
      return gateway
    },
    get store() {
      return front.server.store
    },
    stopGateway: () => gateway.stop(),
    async startGateway() {
      gateway = await gatewayAgain()
    },
    stop,
    async start(settings = {}) {
      const port = portOf(platform)
      ;[gateway, front] = await Promise.all([
        gatewayAgain(settings),
        startReplica(platform, settings, { port }),
      ])
    },
    remove: stop,
  }
}

async function serversOfBuild(
  platform: Platform,
  place: ServersPlace,
  roles: Roles,
  build: string,
): Promise<LabServers> {
  const engines = await reachEngines(platform.config, place)
  const members = await prepareMembers({ ...platform.config, ...engines.settings }, place, roles)
  const [gateway, front] = members
  let reader: Pick<Replica, 'server' | 'stop'> = platform
  const start = async (settings: ServerSettings = {}) => {
    for (const { server, settingsWith } of members) server.configure(settingsWith(settings))
    await Promise.all(members.map(({ server }) => server.start(build)))
  }
  const stopProcesses = async () => void (await Promise.all(members.map(({ server }) => server.terminate())))
  await start()
  return {
    platform: {
      ...platform,
      // Servers on machines reach further ones, such as a broker, only there.
      ...(place.machines.length === 0 ? {} : { serverHost: place.host }),
      baseUrl: front.url,
      api: (token = platform.platformToken) => createApiClient(front.url, token),
      get logLines() {
        return [...platform.logLines, ...members.slice(1).flatMap(({ server }) => linesOf(server))]
      },
    },
    gateway: {
      baseUrl: gateway.url,
      get logLines() {
        return linesOf(gateway.server)
      },
    },
    get store() {
      return reader.server.store
    },
    stopGateway: () => gateway.server.terminate(),
    startGateway: () => gateway.server.start(build),
    async stop() {
      await Promise.all([stopProcesses(), reader.stop()])
    },
    async start(settings) {
      await start(settings)
      reader = await startReplica(platform)
    },
    async remove() {
      await Promise.all([...members.map(({ server }) => server.remove()), reader.stop()])
      await engines.stop()
    },
  }
}

interface Member {
  readonly server: PreparedServer
  readonly url: string
  /** Its configuration file with other settings than those of the platform. */
  settingsWith(settings: ServerSettings): object
}

/** One server for the agents, one for the API and the controllers, and a broker apart: those of the platform's roles that each has. */
async function prepareMembers(config: Config, { host, machines, tls, ca }: ServersPlace, all: Roles) {
  const [gatewayMachine, apiMachine, brokerMachine] = machines
  const prepare = async (roles: Roles, end: { readonly host: string; readonly secure: boolean }) => {
    const port = await freePort()
    const url = end.secure ? `https://${end.host}:${port}` : `http://${end.host}:${port}`
    const listen = { host: end.host, port, ...(end.secure ? { tls } : {}) }
    const settingsWith = (settings: ServerSettings): object =>
      fileForm({ ...config, ...settings, roles }, { listen, publicUrl: url })
    const namespace = machines.find(({ address }) => address === end.host)?.namespace
    const place = { url, ...(end.secure ? { ca } : {}), ...defined({ namespace }) }
    return { server: prepareServer(place, settingsWith({})), url, settingsWith }
  }
  const among = (...roles: Roles) => roles.filter((role) => all.includes(role))
  const gatewayEnd = { host: gatewayMachine?.address ?? host, secure: true }
  const gateway: Member = await prepare(among('api', 'gateway'), gatewayEnd)
  const apiEnd = { host: apiMachine?.address ?? LOOPBACK, secure: false }
  const front: Member = await prepare(among('api', 'controllers'), apiEnd)
  const brokerEnd = { host: brokerMachine?.address ?? LOOPBACK, secure: brokerMachine !== undefined }
  const broker: Member[] = all.includes('broker') ? [await prepare(['broker'], brokerEnd)] : []
  return [gateway, front, ...broker] as const
}

/** The engines listen on this host's loopback. Servers on machines of their own reach them at this host's address, by a relay. */
async function reachEngines(config: Config, { host, machines }: ServersPlace) {
  if (machines.length === 0) return { settings: {}, stop: async () => {} }
  const { etcd, secretsStore } = config
  const addresses = [...etcd.endpoints, secretsStore.address]
  const folder = makeTempFolder('relay')
  const ports = new Set(addresses.map((address) => Number(new URL(address).port)))
  const relay = await startRelay(host, [...ports], join(folder.path, 'relay.log'))
  const atHost = (address: string): string => address.replace(LOOPBACK, host)
  return {
    settings: {
      etcd: { ...etcd, endpoints: etcd.endpoints.map(atHost) },
      secretsStore: { ...secretsStore, address: atHost(secretsStore.address) },
    },
    async stop() {
      await relay.kill()
      folder.remove()
    },
  }
}

/** A configuration as a file has it: with its secrets in plain text, which only the file of a test server may contain. */
function fileForm(config: Config, place: object): object {
  const { cluster, secretsStore } = config
  const identity = (of: typeof secretsStore.api) =>
    of === undefined ? undefined : { ...of, secretId: of.secretId.reveal() }
  return {
    ...config,
    ...place,
    cluster: { ...cluster, key: cluster?.key?.reveal() },
    secretsStore: { ...secretsStore, ...identitiesOf(config.roles) },
  }

  function identitiesOf(roles: Roles) {
    const broker = roles.includes('broker') ? identity(secretsStore.broker) : undefined
    const api = roles.some((role) => role !== 'broker') ? identity(secretsStore.api) : undefined
    return { api, broker }
  }
}

const linesOf = (server: PreparedServer): string[] => server.output().split('\n')
const portOf = ({ baseUrl }: { readonly baseUrl: string }): number => Number(new URL(baseUrl).port)
