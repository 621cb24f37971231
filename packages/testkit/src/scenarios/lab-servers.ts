// The servers of a lab. From sources they run in this process: one for the API, and one with TLS for the agents. If
// HOLDFAST_PROGRAMS names another build, they are processes of that build with their roles apart, and the server in this process
// only reads the store for the test.

import type { Config } from '@holdfast/server/config/schema'
import type { Store } from '@holdfast/server/store/store'
import { ROOT, testedBuild } from '../builds/programs.ts'
import { freePort } from '../free-port.ts'
import { createApiClient } from '../platform/api-client.ts'
import { type Platform, type Replica, startReplica } from '../platform/start-platform.ts'
import { type PreparedServer, prepareServer, urlAt } from './server-process.ts'

export type ServerSettings = Partial<Config>
export type Roles = Config['roles']
export type LabGateway = Pick<Replica, 'baseUrl' | 'logLines'>

/** Where the agents reach the gateway. */
interface GatewayPlace {
  readonly host: string
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string }
  /** The authority of the gateway's certificate as PEM. */
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

export function startLabServers(platform: Platform, place: GatewayPlace, roles: Roles): Promise<LabServers> {
  const build = testedBuild()
  return build === ROOT ? serversInProcess(platform, place) : serversOfBuild(platform, place, roles, build)
}

async function serversInProcess(platform: Platform, { host, tls }: GatewayPlace): Promise<LabServers> {
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
  place: GatewayPlace,
  roles: Roles,
  build: string,
): Promise<LabServers> {
  const members = await prepareMembers(platform, place, roles)
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
async function prepareMembers(platform: Platform, { host, tls, ca }: GatewayPlace, all: Roles) {
  const prepare = async (roles: Roles, tlsPlace?: GatewayPlace): Promise<Member> => {
    const port = await freePort()
    const url = tlsPlace === undefined ? urlAt(port) : `https://${host}:${port}`
    const listen = tlsPlace === undefined ? { host: '127.0.0.1', port } : { host, port, tls }
    const settingsWith = (settings: ServerSettings): object =>
      fileForm({ ...platform.config, ...settings, roles }, { listen, publicUrl: url })
    const server = prepareServer(tlsPlace === undefined ? { url } : { url, ca }, settingsWith({}))
    return { server, url, settingsWith }
  }
  const among = (...roles: Roles) => roles.filter((role) => all.includes(role))
  const gateway = await prepare(among('api', 'gateway'), { host, tls, ca })
  const front = await prepare(among('api', 'controllers'))
  const broker = all.includes('broker') ? [await prepare(['broker'])] : []
  return [gateway, front, ...broker] as const
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
