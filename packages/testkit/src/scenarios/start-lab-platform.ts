// The complete product on this machine: a lab of nodes with real engines, servers on real etcd, secrets store and registry, and
// an agent on each node, enrolled by the agent's own command.

import { env } from 'node:process'
import type { Store } from '@holdfast/server/store/store'
import {
  type Certificates,
  type EtcdCluster,
  type Lab,
  type LabNode,
  type LabOptions,
  makeCertificates,
  type SecretsStore,
  startEtcd,
  startLab,
} from '@holdfast/testkit'
import { ROOT, testedBuild } from '../builds/programs.ts'
import { LONG } from '../long-run.ts'
import type { ApiClient } from '../platform/api-client.ts'
import { type Platform, startPlatform } from '../platform/start-platform.ts'
import { checkHistory } from './check-history.ts'
import {
  type AgentSettings,
  createLabAgents,
  type LabAgents,
  type Offer,
  untilNodesReady,
} from './lab-agents.ts'
import {
  type LabGateway,
  type Roles,
  rolesInProcess,
  type ServerSettings,
  startLabServers,
} from './lab-servers.ts'

export interface LabPlatform {
  readonly lab: Lab
  /** The server that serves the API. Agents connect to the gateway, which uses TLS. */
  readonly platform: Platform
  readonly gateway: LabGateway
  /** The store as a server in this process reads it now. */
  readonly store: Store
  /** Ends the gateway, runs the callback, and starts another gateway at the same address. */
  replaceGateway(during?: () => Promise<void>): Promise<void>
  /** Replaces all servers at the same addresses. The given settings override those of the platform. */
  restartServers(settings: ServerSettings): Promise<void>
  /**
   * Kills etcd, which must not be the shared one, ends all servers, runs the callback, and starts all of them again. The given
   * settings override those of the platform from then on.
   */
  withoutControlPlane(during: () => Promise<void>, settings?: ServerSettings): Promise<void>
  /** The platform's own etcd; undefined if the platform uses the shared etcd. */
  readonly etcd: EtcdCluster | undefined
  /** Reference of a runnable image in the lab's registry. */
  readonly image: string
  /** An API client with the role tenant-admin of the tenant. */
  api(tenant: string): ApiClient
  node(name: string): LabNode
  readonly agents: Pick<LabAgents, 'fencer' | 'startFencer'>
  /** Restarts the node's agent with exactly these labels in its configuration. */
  relabel(node: LabNode, labels: { readonly [key: string]: string }): Promise<void>
  /** Enrolls the node again with a new join token; returns the node's id. */
  enrollAgain(node: LabNode, offer?: Offer): Promise<string>
  /** Enrolls a machine by the join command that the server returned, and starts its agent. */
  join(node: LabNode, command: string): Promise<void>
  stop(): Promise<void>
}

export interface LabPlatformOptions
  extends Pick<LabOptions, 'nodesPerTenant' | 'engine' | 'registry' | 'losesUnsynced' | 'diskBytes'> {
  /** Labels and location at enrollment, by node name. */
  readonly offers?: { readonly [node: string]: Offer }
  /** Names of machines that are not enrolled at the start. */
  readonly strangers?: readonly string[]
  /** The size of each node's storage pool, such as `4Gi`. */
  readonly poolSize?: string
  readonly agents?: AgentSettings
  /**
   * If true and the tests run a build, each server runs on a machine of the lab's network. By default in long runs, and if
   * SERVERS_ON_MACHINES is 1.
   */
  readonly serversOnMachines?: boolean
  /** The roles of the platform's servers, by default all. */
  readonly roles?: Roles
  /** Server settings that override those of the test platform. */
  readonly settings?: { readonly [name: string]: unknown }
  /** Number of members of an etcd for this platform only. If absent, the shared etcd is used. */
  readonly etcdMembers?: number
  /** Starts what the agents connect to instead of the gateway, with the gateway's certificate. Resolves with its URL. */
  readonly front?: (platform: Platform, place: FrontPlace) => Promise<string>
  /** A secrets store for this platform only, for a test that stops the store. If absent, the shared one is used. */
  readonly secretsStore?: SecretsStore
}

/** The address of the lab's host and the files of a certificate for it. */
export interface FrontPlace {
  readonly host: string
  readonly certificates: Certificates
}

const CLUSTER_KEY = 'known to the replicas of this test alone'
const TENANTS = ['acme', 'globex'] as const
/** One for agents, one for the API, one for the broker. */
const SERVER_MACHINES = 3
const ROLES: Roles = ['api', 'controllers', 'gateway', 'broker']

export async function startLabPlatform(options: LabPlatformOptions): Promise<LabPlatform> {
  const agents = createLabAgents(undefined, options.poolSize, options.agents)
  const { etcd, lab, certificates, servers } = await prepareLab(options, agents)
  const { platform } = servers
  const history = checkHistory(lab)
  history.follow(servers.store)
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  const api = (tenant: string) =>
    platform.api(tenant === 'acme' ? platform.acme.token : platform.globex.token)
  const front = await options.front?.(platform, { host: lab.hostAddress, certificates })
  const place = { server: front ?? servers.gateway.baseUrl, ca: certificates.path('ca.crt') }
  const enroll = (node: LabNode, offer = options.offers?.[node.name]) =>
    agents.enroll(node, api(node.tenant), place, offer)
  const members = lab.nodes.filter(({ name }) => options.strangers?.includes(name) !== true)
  await Promise.all(members.map((node) => enroll(node)))
  await Promise.all(members.map((node) => lab.restartAgent(node)))
  for (const tenant of TENANTS)
    await untilNodesReady(api(tenant), members.filter((node) => node.tenant === tenant).length)
  const checkSoFar = () => history.finish({ acme: platform.acme.id, globex: platform.globex.id })
  return {
    lab,
    platform,
    etcd,
    image,
    agents,
    api,
    get gateway() {
      return servers.gateway
    },
    get store() {
      return servers.store
    },
    async replaceGateway(during = async () => {}) {
      await servers.stopGateway()
      await during()
      await servers.startGateway()
    },
    async restartServers(settings) {
      await checkSoFar()
      await servers.stop()
      await servers.start(settings)
      history.follow(servers.store)
    },
    async withoutControlPlane(during, settings) {
      if (etcd === undefined) throw new Error('withoutControlPlane needs its own etcd: set etcdMembers')
      await checkSoFar()
      await killAll(etcd)
      await servers.stop()
      await during()
      await Promise.all(etcd.members.map((member) => member.restart()))
      await servers.start(settings)
      history.follow(servers.store)
    },
    async relabel(node, labels) {
      agents.configure(node, labels)
      await lab.restartAgent(node)
    },
    async enrollAgain(node, offer) {
      const id = await enroll(node, offer)
      await lab.restartAgent(node)
      return id
    },
    async join(node, command) {
      await agents.runJoinCommand(node, command)
      await lab.restartAgent(node)
    },
    node: (name) => lab.nodes.find((node) => node.name === name) ?? missing(name),
    async stop() {
      try {
        await checkSoFar()
      } finally {
        await lab.stop()
        await servers.remove()
        await etcd?.stop()
        certificates.remove()
      }
    },
  }
}

/** Starts the machines, a separate etcd if the test needs one, and the servers. No agent is enrolled yet. */
async function prepareLab(options: LabPlatformOptions, agents: ReturnType<typeof createLabAgents>) {
  const { etcdMembers } = options
  const etcd = etcdMembers === undefined ? undefined : await startEtcd({ members: etcdMembers })
  const serverMachines = runsOnMachines(options) ? SERVER_MACHINES : 0
  const lab = await startLab({ ...options, tenants: TENANTS, startAgent: agents.startAgent, serverMachines })
  const { hostAddress: host, serverMachines: machines } = lab
  const certificates = await makeCertificates([host, ...machines.map(({ address }) => address)].map(nameOf))
  const cluster = { key: CLUSTER_KEY, ca: certificates.path('ca.crt') }
  const roles = options.roles ?? ROLES
  const platform = await startPlatform({
    registry: lab.registry,
    settings: { cluster, ...options.settings, roles: rolesInProcess(roles) },
    ...(options.secretsStore === undefined ? {} : { secretsStore: options.secretsStore }),
    ...(etcd === undefined ? {} : { endpoints: etcd.endpoints }),
  })
  const tls = {
    cert: certificates.path('server.crt'),
    key: certificates.path('server.key'),
    // Join commands pin the authority, which is not in the server's file.
    ca: certificates.path('ca.crt'),
  }
  const ca = certificates.pem('ca.crt')
  const servers = await startLabServers(platform, { host, machines, tls, ca }, roles)
  return { etcd, lab, certificates, servers }
}

/** Servers of sources run in the process of the test, which is on this host. */
const runsOnMachines = ({
  serversOnMachines = LONG || env['SERVERS_ON_MACHINES'] === '1',
}: LabPlatformOptions) => serversOnMachines && testedBuild() !== ROOT

const nameOf = (address: string): string => `IP:${address}`
const killAll = ({ members }: EtcdCluster) => Promise.all(members.map((member) => member.kill()))

function missing(name: string): never {
  throw new Error(`no node is called ${name}`)
}
