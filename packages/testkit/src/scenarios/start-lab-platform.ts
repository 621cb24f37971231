// The whole product on this machine: a lab of nodes with real engines, two server replicas on real etcd, secrets store and
// registry, and an agent on each node that was enrolled as a person would enroll it.

import type { Config } from '@holdfast/server/config/schema'
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
import { createLabAgents, type Offer, untilNodesReady } from './lab-agents.ts'

export interface LabPlatform {
  readonly lab: Lab
  /** Serves the API; the other replica, behind TLS, is where the agents dial in. */
  readonly platform: Platform
  readonly gateway: Replica
  /** The gateway ends, and another process takes its address. */
  replaceGateway(meanwhile?: () => Promise<void>): Promise<void>
  /** Both servers end, and others take their addresses, with these settings over those of the platform. */
  restartServers(settings: Partial<Config>): Promise<void>
  /** etcd, which must be the platform's own, is killed, then all servers end; later all of it is there again. */
  withoutControlPlane(meanwhile: () => Promise<void>): Promise<void>
  /** Its own one; absent: the shared one. */
  readonly etcd: EtcdCluster | undefined
  /** A reference of a runnable image in the lab's registry. */
  readonly image: string
  /** As tenant-admin. */
  api(tenant: string): ApiClient
  node(name: string): LabNode
  /** Its agent is started again with these labels in its configuration, and no others. */
  relabel(node: LabNode, labels: { readonly [key: string]: string }): Promise<void>
  /** With a new join token; gives the node's id. */
  enrollAgain(node: LabNode, offer?: Offer): Promise<string>
  stop(): Promise<void>
}

export interface LabPlatformOptions extends Pick<LabOptions, 'nodesPerTenant' | 'engine' | 'registry'> {
  /** By the node's name. */
  readonly offers?: { readonly [node: string]: Offer }
  /** Of the servers, over those of the test platform. */
  readonly settings?: { readonly [name: string]: unknown }
  /** How many members an etcd of its own has; absent: the shared one. */
  readonly etcdMembers?: number
  /** One of its own, for a test that takes it away; absent: the shared one. */
  readonly secretsStore?: SecretsStore
}

const CLUSTER_KEY = 'known to the replicas of this test alone'
const TENANTS = ['acme', 'globex'] as const

export async function startLabPlatform(options: LabPlatformOptions): Promise<LabPlatform> {
  const agents = createLabAgents()
  const { etcd, lab, certificates, platform } = await prepareLab(options, agents)
  let history = checkHistory(platform.server.store, lab)
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
    history = checkHistory(front.server.store, lab)
  }
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  const api = (tenant: string) =>
    platform.api(tenant === 'acme' ? platform.acme.token : platform.globex.token)
  const place = { server: gateway.baseUrl, ca: certificates.path('ca.crt') }
  const enroll = (node: LabNode, offer = options.offers?.[node.name]) =>
    agents.enroll(node, api(node.tenant), place, offer)
  await Promise.all(lab.nodes.map((node) => enroll(node)))
  await Promise.all(lab.nodes.map((node) => lab.restartAgent(node)))
  for (const tenant of TENANTS)
    await untilNodesReady(api(tenant), lab.nodes.filter((node) => node.tenant === tenant).length)
  const checkSoFar = () => history.finish({ acme: platform.acme.id, globex: platform.globex.id })
  return {
    lab,
    platform,
    etcd,
    image,
    api,
    get gateway() {
      return gateway
    },
    async replaceGateway(meanwhile = async () => {}) {
      await gateway.stop()
      await meanwhile()
      gateway = await gatewayAgain()
    },
    async restartServers(settings) {
      await checkSoFar()
      await Promise.all([gateway.stop(), front.stop()])
      await bothAgain(settings)
    },
    async withoutControlPlane(meanwhile) {
      if (etcd === undefined) throw new Error('The etcd is shared with other tests: it may not go.')
      await checkSoFar()
      await killAll(etcd)
      await Promise.all([gateway.stop(), front.stop()])
      await meanwhile()
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

/** The machines, an etcd if the test wants its own, and the first server; no agent is enrolled yet. */
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
