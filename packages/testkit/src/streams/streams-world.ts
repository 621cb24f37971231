// Two server replicas, and two nodes with real agents: one node runs the old line of Docker Engine, one the new line.
// Each server replica has the session of one agent. A deployment has a container on both nodes; its placement is written directly to the store.

import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Assignment,
  type AssignmentId,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { observations } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import {
  type DockerLine,
  makeTempFolder,
  type Registry,
  type StandaloneDockerEngine,
  startDockerEngine,
  startRegistry,
  waitUntil,
} from '@holdfast/testkit'
import { joinToken } from '../nodes/enroll.ts'
import {
  type Platform,
  type PlatformOptions,
  type Replica,
  startPlatform,
  startReplica,
} from '../platform/start-platform.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const NODE = join(ROOT, 'node_modules/.bin/node')
const AGENT = join(ROOT, 'packages/agent/src/main.ts')
const LINES: readonly DockerLine[] = ['old', 'new']

interface AgentProcess {
  readonly nodeId: NodeId
  readonly nodeName: string
  /** Path of the agent's log. */
  readonly logFile: string
  /** Peak memory of the agent's process in MiB. */
  peakMiB(): number
  stop(): Promise<void>
}

export interface StreamsWorld {
  readonly platform: Platform
  /** The server replica to which the second agent connects. */
  readonly other: Replica
  readonly tenant: TenantId
  readonly agents: readonly AgentProcess[]
  /** Deploys a container with the command on each of the nodes, by default on both; resolves when all run. */
  deploy(name: string, command?: readonly string[], on?: readonly AgentProcess[]): Promise<Assignment[]>
  stop(): Promise<void>
}

/** Starts the platform; `settings` are added to those of the servers. */
export async function startStreamsWorld(settings: PlatformOptions['settings'] = {}): Promise<StreamsWorld> {
  const engines = await Promise.all(LINES.map((line) => startDockerEngine({ line })))
  const registries: Registry[] = []
  const cluster = { key: 'one-cluster-key-that-is-long-enough-for-it' }
  const roles = ['api', 'broker', 'gateway'] as const
  const platform = await startPlatform({ settings: { roles, cluster, ...settings } })
  const other = await startReplica(platform)
  const servers = [platform.baseUrl, other.baseUrl]
  const agents: AgentProcess[] = []
  for (const [index, engine] of engines.entries())
    agents.push(await startAgent(platform, servers[index] ?? '', engine, `node-${index + 1}`))
  const images: string[] = []
  for (const engine of engines) images.push(await pushImage(engine))
  const tenant = platform.acme.id as TenantId
  return {
    platform,
    other,
    tenant,
    agents,
    deploy: async (name, command, on = agents) => {
      const own = agents.flatMap((agent, index) => (on.includes(agent) ? (images[index] ?? []) : []))
      return deploy(platform, tenant, on, own, name, command)
    },
    async stop() {
      await Promise.all(agents.map((agent) => agent.stop()))
      await other.stop()
      await platform.stop()
      await Promise.all(engines.map((engine) => engine.stop()))
      await Promise.all(registries.map((registry) => registry.stop()))
    },
  }

  async function pushImage(engine: StandaloneDockerEngine): Promise<string> {
    const registry = await startRegistry({ address: engine.hostAddress })
    registries.push(registry)
    const { digest } = await registry.pushBusyboxImage('test/web', '1')
    return `${registry.host}/test/web@${digest}`
  }
}

async function startAgent(
  platform: Platform,
  server: string,
  engine: StandaloneDockerEngine,
  nodeName: string,
): Promise<AgentProcess> {
  const folder = makeTempFolder('agent')
  const token = await joinToken(platform.api(platform.acme.token), nodeName)
  const words = ['--server', server, '--name', nodeName, '--state', folder.path]
  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn(NODE, [AGENT, 'enroll', ...words, '--engine', `unix://${engine.socketPath}`], {
      env: { ...process.env, HOLDFAST_JOIN_TOKEN: token },
    })
    let text = ''
    for (const output of [child.stdout, child.stderr])
      output.on('data', (part) => {
        text += part
      })
    child.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(text))))
  })
  const log = openSync(join(folder.path, 'agent.log'), 'w')
  const child = spawn(NODE, [AGENT, 'run', '--state', folder.path], { stdio: ['ignore', log, log] })
  closeSync(log)
  return {
    nodeId: (/node_[0-9A-Z]{26}/.exec(output)?.[0] ?? '') as NodeId,
    nodeName,
    logFile: join(folder.path, 'agent.log'),
    peakMiB: () =>
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    async stop() {
      const closed = new Promise((resolve) => child.once('close', resolve))
      if (child.kill('SIGTERM')) await closed
      folder.remove()
    },
  }
}

async function deploy(
  platform: Platform,
  tenant: TenantId,
  agents: readonly AgentProcess[],
  images: readonly string[],
  name: string,
  command?: readonly string[],
): Promise<Assignment[]> {
  const api = platform.api(platform.acme.token)
  const made = await api.post('/api/v1/deployments', { kind: 'Deployment', name, image: platform.image })
  if (made.status !== 201) throw new Error(`creating the deployment failed: ${made.text}`)
  const uid = Object(made.body['deployment']).uid as DeploymentUid
  const { store } = platform.server
  const template = (image: string) => ({
    name,
    image,
    environment: {},
    labels: {},
    stopGracePeriod: '1s',
    ...(command === undefined ? {} : { command: [...command] }),
  })
  const assignments = agents.map(
    ({ nodeId }, index): Assignment => ({
      id: `rep_${ids.ulid()}` as AssignmentId,
      replica: index + 1,
      nodeId,
      revision: 1,
      templateHash: `sha256:${index}`,
      desired: 'running',
      assignedAt: new Date().toISOString(),
    }),
  )
  const owner = ownerOf('deployment', uid)
  await store.transact((transaction) => {
    transaction.put(placementAt(tenant, owner), {
      v: 1,
      owner,
      name,
      revision: 1,
      everAssigned: true,
      assignments,
      reportedRefusals: '',
      reportedPhase: '',
      templates: Object.fromEntries(images.map((image, index) => [`sha256:${index}`, template(image)])),
    })
    return { kind: 'commit', result: undefined }
  })
  const runs = ({ id }: Assignment): boolean =>
    ['running', 'ready'].includes(store.get(inTenant(tenant, observations, id))?.record.state ?? '')
  await waitUntil(() => assignments.every(runs), { what: `${name} runs on every node`, timeoutMs: 60_000 })
  return assignments
}
