// A platform whose etcd is restored from snapshots: server processes that remember the store in state folders of their own, and
// machines with a Docker Engine, an agent and real containers.

import { makeCertificates } from '../engines/certificates.ts'
import { sharedSecretsStore } from '../engines/shared-engines.ts'
import { type EtcdCluster, startEtcd } from '../engines/start-etcd.ts'
import { freePort } from '../free-port.ts'
import { type Lab, startLab } from '../lab/start-lab.ts'
import { type ApiClient, createApiClient } from '../platform/api-client.ts'
import { provision } from '../platform/set-up.ts'
import { makeTenant } from '../platform/start-platform.ts'
import { createLabAgents, untilNodesReady } from '../scenarios/lab-agents.ts'
import { initialize, type PreparedServer, prepareServer } from '../scenarios/server-process.ts'
import { makeTempFolder } from '../temp-folder.ts'

const LOOPBACK = '127.0.0.1'
const FAST = { requestsPerMinute: 1_000_000, burst: 1_000_000, failedJoinsPerMinute: 10_000 }

/** A server that serves the agents, and one that serves the API. */
export interface ServerPair {
  /** The files in which each server remembers the store. */
  readonly stateFolders: readonly string[]
  readonly servers: readonly [PreparedServer, PreparedServer]
  start(): Promise<void>
  stop(): Promise<void>
}

export interface RestorablePlatform {
  readonly lab: Lab
  readonly etcd: EtcdCluster
  /** The servers of the platform, which run. */
  readonly own: ServerPair
  /** Servers for the same addresses that remember nothing of the others, and do not run. */
  readonly others: ServerPair
  /** Reference of a runnable image in the lab's registry. */
  readonly image: string
  /** An API client with the role tenant-admin. */
  readonly api: ApiClient
  stop(): Promise<void>
}

/** Starts the platform with one tenant and this number of machines, all of them ready. */
export async function startRestorablePlatform(tenant: string, machines: number): Promise<RestorablePlatform> {
  const agents = createLabAgents(undefined, '256Mi')
  const lab = await startLab({ tenants: [tenant], nodesPerTenant: machines, startAgent: agents.startAgent })
  const etcd = await startEtcd()
  const certificates = await makeCertificates([`IP:${lab.hostAddress}`])
  const [tls, ca] = [
    {
      cert: certificates.path('server.crt'),
      key: certificates.path('server.key'),
      ca: certificates.path('ca.crt'),
    },
    certificates.pem('ca.crt'),
  ]
  const { address, rootToken } = await sharedSecretsStore()
  const shared = {
    cluster: { key: 'known to the servers of this test alone', ca: tls.ca },
    etcd: { endpoints: etcd.endpoints },
    secretsStore: { address, ...(await provision(address, rootToken)) },
    registries: [{ host: lab.registry.host, plainHttp: true, allowAddress: true }],
    rates: FAST,
  }
  const [agentPort, apiPort] = [await freePort(), await freePort()]
  const [agentUrl, apiUrl] = [`https://${lab.hostAddress}:${agentPort}`, `http://${LOOPBACK}:${apiPort}`]
  const agentEnd = { listen: { host: lab.hostAddress, port: agentPort, tls }, publicUrl: agentUrl }
  const apiEnd = {
    listen: { host: LOOPBACK, port: apiPort },
    publicUrl: apiUrl,
    roles: ['api', 'controllers'],
  }
  const preparePair = (): ServerPair =>
    pairOf([
      (stateFolder) => prepareServer({ url: agentUrl, ca }, { ...shared, ...agentEnd, stateFolder }),
      (stateFolder) => prepareServer({ url: apiUrl }, { ...shared, ...apiEnd, stateFolder }),
    ])
  const [own, others] = [preparePair(), preparePair()]
  const platformToken = await initialize(own.servers[0].config)
  await own.start()
  const { token } = await makeTenant(createApiClient(apiUrl, platformToken), tenant)
  const api = createApiClient(apiUrl, token)
  await Promise.all(lab.nodes.map((node) => agents.enroll(node, api, { server: agentUrl, ca: tls.ca })))
  await Promise.all(lab.nodes.map((node) => lab.restartAgent(node)))
  await untilNodesReady(api, machines)
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  return {
    ...{ lab, etcd, own, others, image, api },
    async stop() {
      await lab.stop()
      await Promise.all([...own.servers, ...others.servers].map((server) => server.remove()))
      await etcd.stop()
      certificates.remove()
    },
  }
}

type Prepare = (stateFolder: string) => PreparedServer

function pairOf([first, second]: readonly [Prepare, Prepare]): ServerPair {
  const [one, other] = [makeTempFolder('state').path, makeTempFolder('state').path]
  const servers = [first(one), second(other)] as const
  return {
    stateFolders: [one, other],
    servers,
    start: async () => void (await Promise.all(servers.map((server) => server.start()))),
    stop: async () => void (await Promise.all(servers.map((server) => server.terminate()))),
  }
}
