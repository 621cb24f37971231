// The agents of a lab. Each agent is enrolled by its own command with a join token that a tenant administrator requested,
// and runs as a process of its node, so that it ends when the node loses power.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { type LabNode, type ManagedProcess, waitUntil } from '@holdfast/testkit'
import { buildHas, programIn, testedBuild } from '../builds/programs.ts'
import type { ApiClient } from '../platform/api-client.ts'

const STEPPED_CLOCK = new URL('../faults/stepped-clock.ts', import.meta.url).href
/** The default size of each node's pool. The file is allocated, so it is small. */
const POOL_SIZE = '1Gi'
/** Stands in for the agent process of a node that is not enrolled yet. */
const NO_AGENT: ManagedProcess = {
  pid: 0,
  kill: async () => {},
  terminate: async () => {},
  pause: () => {},
  resume: () => {},
}

type Labels = { readonly [key: string]: string }

/** Labels and location of a node at enrollment. */
export interface Offer {
  readonly labels?: Labels
  /** The location that the node's join token attests and that the node advertises. */
  readonly residency?: { readonly country?: string; readonly region?: string }
  readonly cpuMillis?: number
}

interface ServerPlace {
  readonly server: string
  /** Path of the certificate authority's PEM file. */
  readonly ca?: string
}

export interface LabAgents {
  /**
   * Starts the agent of a node, called by the lab; does nothing for a node that is not enrolled yet. The first agent after a
   * power-on comes with a fencer, as systemd would start both.
   */
  startAgent(node: LabNode): Promise<ManagedProcess>
  /** The fencer of a node. A test may kill, pause and resume it; no other process starts it again before the next power-on. */
  fencer(node: LabNode): ManagedProcess
  /** Starts a fencer on a node whose fencer was killed. */
  startFencer(node: LabNode): void
  /** Enrolls the node and returns its id. */
  enroll(node: LabNode, api: ApiClient, place: ServerPlace, offer?: Offer): Promise<string>
  /** Runs the join command that the server returned, on the node, with the node's own engine and state. */
  runJoinCommand(node: LabNode, command: string): Promise<void>
  /** Sets the labels that the agent advertises from its next start. */
  configure(node: LabNode, labels: Labels): void
}

export interface AgentSettings {
  /** Seconds of the leases of primaries; all other times of promises follow from it. By default as shipped. */
  readonly promiseLeaseSeconds?: number | undefined
  /** If true, the file clockFile() of a node has milliseconds that are added to the wall clock of agent and fencer. */
  readonly steppableClock?: boolean
}

/** `buildOf` returns the folder of the build that a node's agent runs from its next start; by default the tested build. */
export function createLabAgents(
  buildOf: (node: LabNode) => string = () => testedBuild(),
  poolSize = POOL_SIZE,
  settings: AgentSettings = {},
): LabAgents {
  const enrolled = new Set<LabNode>()
  const configured = new Map<LabNode, Labels>()
  // A node has a new engine after each power-on.
  const fencers = new WeakMap<LabNode['engine'], ManagedProcess>()
  const runEnroll = async (node: LabNode, words: readonly string[], token: { [name: string]: string }) => {
    const { node: binary, main, env } = programIn(buildOf(node), 'agent')
    const output = await node.exec([binary, main, 'enroll', ...words], { env: { ...env, ...token } })
    enrolled.add(node)
    configured.delete(node)
    return /node_[0-9A-Z]{26}/.exec(output)?.[0] ?? ''
  }
  const startFencer = (node: LabNode): void => {
    const started = runFencer(node, buildOf(node), clockEnv(node, settings))
    if (started !== undefined) fencers.set(node.engine, started)
  }
  return {
    async startAgent(node) {
      if (!enrolled.has(node)) return NO_AGENT
      if (!fencers.has(node.engine)) startFencer(node)
      return runAgent(node, buildOf(node), { ...settings, poolSize, labels: configured.get(node) })
    },
    fencer: (node) => fencers.get(node.engine) ?? NO_AGENT,
    startFencer,
    configure: (node, labels) => void configured.set(node, labels),
    async enroll(node, api, place, offer = {}) {
      const { residency } = offer
      const request = { nodeName: node.name, ...(residency === undefined ? {} : { residency }) }
      const issued = await api.post('/api/v1/nodes/join-tokens', request)
      if (issued.status !== 201) throw new Error(`no join token: ${issued.text}`)
      const words = [
        '--server',
        place.server,
        ...caWords(place),
        '--name',
        node.name,
        ...machineWords(node, offer),
      ]
      return runEnroll(node, words, { HOLDFAST_JOIN_TOKEN: String(issued.body['token']) })
    },
    async runJoinCommand(node, command) {
      const [, , ...words] = command.split(' ')
      await runEnroll(node, [...words, ...machineWords(node, {})], {})
    },
  }
}

/** Waits until the tenant's nodes are connected, because placement ignores a node that is enrolled but not connected. */
export async function untilNodesReady(api: ApiClient, count: number): Promise<void> {
  const areReady = async (): Promise<boolean> => {
    const { body } = await api.get('/api/v1/nodes')
    const items: unknown[] = Object.values(Object(body['items']))
    return items.filter((node) => Object(node).status === 'ready').length === count
  }
  await waitUntil(areReady, { what: `${count} nodes are ready` })
}

/** File with the log lines of a node's agent, over all restarts. */
export const agentLog = (node: LabNode): string => join(node.folder, 'agent.log')
/** Folder of the state of a node's agent. */
export const stateOf = (node: LabNode): string => join(node.disk, 'agent')

const caWords = ({ ca }: ServerPlace): string[] => (ca === undefined ? [] : ['--ca', ca])

/** Arguments of an enrollment that depend on the machine: where its engine and state are, and what it offers. */
function machineWords(node: LabNode, offer: Offer): string[] {
  const { labels = {}, residency = {}, cpuMillis = 4000 } = offer
  const { country, region } = residency
  const advertised = {
    ...(country === undefined ? {} : { [NODE_COUNTRY]: country }),
    ...(region === undefined ? {} : { [NODE_REGION]: region }),
    ...labels,
  }
  return [
    '--state',
    stateOf(node),
    '--engine',
    `unix://${node.socketPath}`,
    '--cpu-millis',
    String(cpuMillis),
    '--memory-bytes',
    String(8 * 1024 ** 3),
    ...labelWords(advertised),
  ]
}

const labelWords = (labels: Labels): string[] =>
  Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`])

/** Command-line arguments for changed labels. Undefined labels have not changed since enrollment. */
const configuredWords = (labels: Labels | undefined): string[] =>
  labels !== undefined && Object.keys(labels).length === 0 ? ['--labels', 'none'] : labelWords(labels ?? {})

function runAgent(
  node: LabNode,
  build: string,
  settings: AgentSettings & { readonly poolSize: string; readonly labels: Labels | undefined },
): ManagedProcess {
  const { poolSize, labels, promiseLeaseSeconds: lease } = settings
  const { node: binary, main, env } = programIn(build, 'agent')
  return node.startProcess({
    binary,
    args: [
      ...[main, 'run', '--state', stateOf(node)],
      ...configuredWords(labels),
      ...routingWords(node),
      ...volumeWords(node, build, poolSize),
      ...(lease === undefined ? [] : ['--promise-lease', String(lease)]),
    ],
    env: { ...env, ...clockEnv(node, settings) },
    logFile: agentLog(node),
  })
}

/** File with the milliseconds by which the wall clock of a node's agent and fencer is ahead. */
export const clockFile = (node: LabNode): string => join(node.folder, 'clock')

/** Environment variables of a process whose wall clock is ahead by the milliseconds in a file. */
const steppedClockEnv = (file: string): { readonly [name: string]: string } => ({
  NODE_OPTIONS: `--import=${STEPPED_CLOCK}`,
  STEPPED_CLOCK_FILE: file,
})

const clockEnv = (node: LabNode, { steppableClock }: AgentSettings): { readonly [name: string]: string } =>
  steppableClock === true ? steppedClockEnv(clockFile(node)) : {}

/** The folder of the fencer's files. It is lost at a power cut, as a folder in memory is. */
export const fencerFolder = (node: LabNode): string => join(node.folder, 'run', 'fencer')
/** Whether the build has a fencer that its agent uses. */
const hasFencer = (build: string): boolean => buildHas(build, 'packages/agent/src/fencer/keep-deadlines.ts')

/** Undefined for an older build without a fencer. */
function runFencer(
  node: LabNode,
  build: string,
  clock: { readonly [name: string]: string },
): ManagedProcess | undefined {
  if (!hasFencer(build)) return undefined
  const { node: binary, main, env } = programIn(build, 'fencer')
  const folder = fencerFolder(node)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const files = ['--deadlines', join(folder, 'deadlines.json'), '--report', join(folder, 'report.json')]
  return node.startProcess({
    binary,
    args: [main, ...files],
    env: { ...env, ...clock },
    logFile: join(node.folder, 'fencer.log'),
  })
}

/** Command-line arguments for volumes: a pool on the node's disk, the peer port and the cgroup. An older build has none. */
function volumeWords(node: LabNode, build: string, poolSize: string): string[] {
  if (!buildHas(build, 'packages/agent/src/command/peer-line.ts')) return []
  return [
    '--pool',
    `${join(node.disk, 'pool.img')}:${poolSize}`,
    '--agent-peer-address',
    node.address,
    '--cgroup',
    `${node.engine.cgroup.replace(/^\//, '')}/writers`,
    ...(hasFencer(build) ? ['--fencer', fencerFolder(node)] : []),
  ]
}

/** Command-line arguments for the router: plain HTTP on port 80 for clients and 8081 for the tenant's other nodes. */
function routingWords({ address, caddy }: LabNode): string[] {
  return [
    '--routes-listen',
    `${address}:80`,
    '--routes-tls',
    'off',
    '--peer-listen',
    `${address}:8081`,
    '--peer-address',
    `${address}:8081`,
    '--caddy-socket',
    caddy.socketPath,
    '--caddy-config',
    caddy.configFile,
  ]
}
