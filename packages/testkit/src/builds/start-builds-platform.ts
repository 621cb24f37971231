// A platform whose two servers and three agents are processes that each run a build of their own, and change to another
// build with the same data: the same etcd, configuration, agent state, Docker Engine and containers.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificates } from '../engines/certificates.ts'
import { sharedEtcd, sharedSecretsStore } from '../engines/shared-engines.ts'
import { freePort } from '../free-port.ts'
import type { LabNode } from '../lab/lab-node.ts'
import { type Lab, startLab } from '../lab/start-lab.ts'
import { createApiClient } from '../platform/api-client.ts'
import { dumpKeys, type KeyDump } from '../platform/dump-keys.ts'
import { provision } from '../platform/set-up.ts'
import { makeTenant } from '../platform/start-platform.ts'
import { runCommandAsync } from '../run-command.ts'
import { agentLog, createLabAgents, untilNodesReady } from '../scenarios/lab-agents.ts'
import { initialize, prepareServer, type ServerProcess, urlAt } from '../scenarios/server-process.ts'
import { makeTempFolder } from '../temp-folder.ts'
import { uniqueName } from '../unique-names.ts'
import { startBalancer } from './balancer.ts'
import type { Build } from './build.ts'
import { createFailoverClient, type FailoverClient } from './failover-client.ts'
import { buildHas } from './programs.ts'
import type { StoreReading } from './read-store.ts'

const TENANT = 'acme'
const NODES = 3
const SERVERS = 2
const RATES = { requestsPerMinute: 1_000_000, burst: 1_000_000, failedJoinsPerMinute: 10_000 }

export interface BuildsPlatform {
  readonly lab: Lab
  readonly servers: readonly ServerProcess[]
  /** Id of the tenant that owns the nodes. */
  readonly tenant: string
  /** Token of the tenant's administrator. */
  readonly token: string
  /** A client of the platform's administrator that fails over between the servers. */
  readonly admin: FailoverClient
  /** A client of the tenant's administrator that fails over between the servers. */
  readonly api: FailoverClient
  readonly nodeIds: readonly string[]
  /** Names of the processes: first the servers, then the agents. */
  readonly processes: readonly string[]
  node(name: string): LabNode
  /** Ends a process gracefully and starts it in another build. A server answers on return, an agent has started. */
  change(process: number, build: Build): Promise<void>
  /** Everything that a process has logged, over all restarts. */
  output(process: number): string
  /** Every key of the platform in etcd. */
  dump(): Promise<KeyDump>
  /** Decodes a dump with the shapes of a build. */
  readDump(dump: KeyDump, build: Build): Promise<StoreReading>
  stop(): Promise<void>
}

/** Starts the platform with all processes in one build. */
export async function startBuildsPlatform(first: Build): Promise<BuildsPlatform> {
  const builds = new Map<LabNode, Build>()
  const agents = createLabAgents((node) => (builds.get(node) ?? first).folder)
  const lab = await startLab({ tenants: [TENANT], nodesPerTenant: NODES, startAgent: agents.startAgent })
  const { servers, ports, root, endpoint } = await prepareServers(lab)
  const platformToken = await initialize(servers[0]?.config ?? '', first.folder)
  await Promise.all(servers.map((server) => server.start(first.folder)))
  const urls = ports.map(urlAt)
  const { id: tenant, token } = await makeTenant(createApiClient(urls[0] ?? '', platformToken), TENANT)
  const api = createFailoverClient(urls, token)
  const certificates = await makeCertificates([`IP:${lab.hostAddress}`])
  const tls = { cert: certificates.pem('server.crt'), key: certificates.pem('server.key') }
  const balancer = await startBalancer({ host: lab.hostAddress, ...tls, ports })
  const place = { server: balancer.url, ca: certificates.path('ca.crt') }
  const nodeIds = await Promise.all(lab.nodes.map((node) => agents.enroll(node, api, place)))
  await Promise.all(lab.nodes.map((node) => lab.restartAgent(node)))
  await untilNodesReady(api, NODES)
  const processes = [...servers.map((_, at) => `server ${at + 1}`), ...lab.nodes.map(({ name }) => name)]
  const nodeOf = (process: number) => lab.nodes[process - SERVERS]
  return {
    lab,
    servers,
    tenant,
    token,
    admin: createFailoverClient(urls, platformToken),
    api,
    nodeIds,
    processes,
    node: (name) => lab.nodes.find((node) => node.name === name) ?? missing(name),
    async change(process, build) {
      const [server, node] = [servers[process], nodeOf(process)]
      if (node !== undefined) {
        builds.set(node, build)
        await lab.restartAgent(node, 'terminate')
      }
      await server?.terminate()
      await server?.start(build.folder)
    },
    output(process) {
      const node = nodeOf(process)
      return node === undefined ? (servers[process]?.output() ?? '') : readFileSync(agentLog(node), 'utf8')
    },
    dump: () => dumpKeys(endpoint, `${root}/`),
    readDump: (dump, build) => readDump(dump, root, build),
    async stop() {
      await lab.stop()
      await Promise.all(servers.map((server) => server.remove()))
      await balancer.stop()
      certificates.remove()
    },
  }
}

async function prepareServers(lab: Lab) {
  const [etcd, secrets] = await Promise.all([sharedEtcd(), sharedSecretsStore()])
  const identities = await provision(secrets.address, secrets.rootToken)
  const ports = await Promise.all(Array.from({ length: SERVERS }, () => freePort()))
  const root = `/${uniqueName('test')}`
  const settingsAt = (port: number) => ({
    listen: { host: '127.0.0.1', port },
    publicUrl: urlAt(port),
    etcd: { endpoints: etcd.endpoints, root },
    cluster: { key: 'known to the servers of this test alone' },
    secretsStore: { address: secrets.address, ...identities },
    registries: [{ host: lab.registry.host, plainHttp: true, allowAddress: true }],
    rates: RATES,
  })
  const servers = ports.map((port) => prepareServer({ url: urlAt(port) }, settingsAt(port), volumesIn))
  return { servers, ports, root, endpoint: etcd.endpoints[0] ?? '' }
}

/** Turns volumes on in a build that knows them; an older server rejects the setting. */
const volumesIn = (build: string): { [name: string]: string } =>
  buildHas(build, 'packages/server/src/operations/volumes') ? { HOLDFAST_VOLUMES_ENABLED: 'true' } : {}

async function readDump(dump: KeyDump, root: string, build: Build): Promise<StoreReading> {
  const folder = makeTempFolder('dump')
  const file = join(folder.path, 'dump.json')
  writeFileSync(file, JSON.stringify(dump))
  // The file is copied, because an older build has an older one or none.
  const program = join(build.folder, 'read-store.ts')
  copyFileSync(join(import.meta.dirname, 'read-store.ts'), program)
  const reading: StoreReading = JSON.parse(await runCommandAsync(process.execPath, [program, file, root]))
  folder.remove()
  return reading
}

function missing(name: string): never {
  throw new Error(`no node is called ${name}`)
}
