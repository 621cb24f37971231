// The complete product on this machine: a lab of nodes with real engines, two server replicas on real etcd, secrets store and
// registry, and an agent on each node, enrolled by the agent's own command.

import type { Config } from '@holdfast/server/config/schema'
import type { Store } from '@holdfast/server/store/store'
import {
  type EtcdCluster,
  type Lab,
  type LabNode,
  type LabOptions,
  makeCertificates,
  type SecretsStore,
  startEtcd,
  startLab,
} from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import { type Platform, type Replica, startPlatform, startReplica } from '../platform/start-platform.ts'
import { checkHistory } from './check-history.ts'
import {
  type AgentSettings,
  createLabAgents,
  type LabAgents,
  type Offer,
  untilNodesReady,
} from './lab-agents.ts'

export interface LabPlatform {
  readonly lab: Lab
  /** The server replica that serves the API. Agents connect to the other server replica, which uses TLS. */
  readonly platform: Platform
  readonly gateway: Replica
  /** The store of the server that serves the API now. */
  readonly store: Store
  /** Ends the gateway, runs the callback, and starts another gateway at the same address. */
  replaceGateway(during?: () => Promise<void>): Promise<void>
  /** Replaces both servers at the same addresses. The given settings override those of the platform. */
  restartServers(settings: Partial<Config>): Promise<void>
  /** Kills etcd, which must not be the shared one, ends all servers, runs the callback, and starts all of them again. */
  withoutControlPlane(during: () => Promise<void>): Promise<void>
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
  extends Pick<LabOptions, 'nodesPerTenant' | 'engine' | 'registry' | 'losesUnsynced'> {
  /** Labels and location at enrollment, by node name. */
  readonly offers?: { readonly [node: string]: Offer }
  /** Names of machines that are not enrolled at the start. */
  readonly strangers?: readonly string[]
  /** The size of each node's storage pool, such as `4Gi`. */
  readonly poolSize?: string
  readonly agents?: AgentSettings
  /** Server settings that override those of the test platform. */
  readonly settings?: { readonly [name: string]: unknown }
  /** Number of members of an etcd for this platform only. If absent, the shared etcd is used. */
  readonly etcdMembers?: number
  /** A secrets store for this platform only, for a test that stops the store. If absent, the shared one is used. */
  readonly secretsStore?: SecretsStore
}

const CLUSTER_KEY = 'known to the replicas of this test alone'
const TENANTS = ['acme', 'globex'] as const

export async function startLabPlatform(options: LabPlatformOptions): Promise<LabPlatform> {
  const agents = createLabAgents(undefined, options.poolSize, options.agents)
  const { etcd, lab, certificates, platform } = await prepareLab(options, agents)
  const history = checkHistory(lab)
  history.follow(platform.server.store)
  const tls = { cert: certificates.path('server.crt'), key: certificates.path('server.key') }
  let gateway = await startReplica(platform, {}, { host: lab.hostAddress, tls })
  let front: Pick<Replica, 'server' | 'stop'> = platform
  const gatewayAgain = (settings: Partial<Config> = {}) =>
    startReplica(platform, settings, { host: lab.hostAddress, port: portOf(gateway), tls })
  const bothAgain = async (settings: Partial<Config> = {}): Promise<void> => {
    ;[gateway, front] = await Promise.all([
      gatewayAgain(settings),
      startReplica(platform, settings, { port: portOf(platform) }),
    ])
    history.follow(front.server.store)
  }
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  const api = (tenant: string) =>
    platform.api(tenant === 'acme' ? platform.acme.token : platform.globex.token)
  const place = { server: gateway.baseUrl, ca: certificates.path('ca.crt') }
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
      return gateway
    },
    get store() {
      return front.server.store
    },
    async replaceGateway(during = async () => {}) {
      await gateway.stop()
      await during()
      gateway = await gatewayAgain()
    },
    async restartServers(settings) {
      await checkSoFar()
      await Promise.all([gateway.stop(), front.stop()])
      await bothAgain(settings)
    },
    async withoutControlPlane(during) {
      if (etcd === undefined) throw new Error('withoutControlPlane needs its own etcd: set etcdMembers')
      await checkSoFar()
      await killAll(etcd)
      await Promise.all([gateway.stop(), front.stop()])
      await during()
      await Promise.all(etcd.members.map((member) => member.restart()))
      await bothAgain()
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
        await Promise.all([gateway.stop(), front.stop()])
        await etcd?.stop()
        certificates.remove()
      }
    },
  }
}

/** Starts the machines, a separate etcd if the test needs one, and the first server. No agent is enrolled yet. */
async function prepareLab(options: LabPlatformOptions, agents: ReturnType<typeof createLabAgents>) {
  const { etcdMembers } = options
  const etcd = etcdMembers === undefined ? undefined : await startEtcd({ members: etcdMembers })
  const lab = await startLab({ ...options, tenants: TENANTS, startAgent: agents.startAgent })
  const roles = ['api', 'controllers', 'gateway', 'broker']
  const certificates = await makeCertificates([`IP:${lab.hostAddress}`])
  const cluster = { key: CLUSTER_KEY, ca: certificates.path('ca.crt') }
  const platform = await startPlatform({
    registry: lab.registry,
    settings: { roles, cluster, ...options.settings },
    ...(options.secretsStore === undefined ? {} : { secretsStore: options.secretsStore }),
    ...(etcd === undefined ? {} : { endpoints: etcd.endpoints }),
  })
  return { etcd, lab, certificates, platform }
}

const killAll = ({ members }: EtcdCluster) => Promise.all(members.map((member) => member.kill()))
const portOf = ({ baseUrl }: { readonly baseUrl: string }): number => Number(new URL(baseUrl).port)

function missing(name: string): never {
  throw new Error(`no node is called ${name}`)
}
