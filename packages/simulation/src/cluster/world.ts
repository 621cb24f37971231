// The whole simulation: the store, the servers, the machines with their agents, and the connections between them.

import {
  deploymentUidOf,
  type NodeId,
  type Owner,
  type Peer,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import type { Clock, IdSource } from '@holdfast/server/ports/clock'
import type { MemoryKeyspace } from '../memory/keyspace.ts'
import type { Behaviour } from '../script/script.ts'
import { createIds, createRandom, type Random } from '../time/random.ts'
import { createTrace, eventLine, type StoryLine, type Trace } from '../time/trace.ts'
import { newProcess, type SimulatedProcess, type VirtualTime } from '../time/virtual-time.ts'
import { createWriteLog, type WriteLog } from '../volumes/written.ts'
import type { Agent } from './agent.ts'
import { startAgent } from './agent.ts'
import { type Identity, startAgentSession } from './agent-session.ts'
import type { Founded } from './ask.ts'
import type { Pace } from './given-world.ts'
import { type AgentSideSocket, type Link, openLink } from './link.ts'
import { containersOf, type Engine, engineOf, type Machine } from './machine.ts'
import { createMirror, type Mirror } from './mirror.ts'
import { type Server, type ServerDeps, startServer } from './server.ts'
import type { Acknowledged, SimulatedCopy, Snapshot } from './snapshot.ts'

export interface SimulatedNode {
  readonly tenant: TenantId
  readonly machine: Machine
  readonly engine: Engine
  identity: Identity
  agent: SimulatedProcess
  /** The running agent; undefined before the first start. A dead process answers no call. */
  running: Agent | undefined
  starts: number
  link: Link | undefined
}

export interface World {
  readonly time: VirtualTime
  readonly keyspace: MemoryKeyspace
  readonly ids: IdSource
  readonly clock: Clock
  readonly random: Random
  readonly mirror: Mirror
  readonly trace: Trace
  readonly serverDeps: ServerDeps
  /** Servers by their name in the script; undefined while a server is down. */
  readonly servers: Map<string, Server | undefined>
  readonly nodes: Map<string, SimulatedNode>
  readonly tenants: Map<string, TenantId>
  /** Container behavior by deployment uid, or by `tenant/name` while the deployment has no uid. */
  readonly behaviours: Map<string, Behaviour>
  readonly acknowledged: Acknowledged[]
  readonly writes: WriteLog
  /** Virtual milliseconds from the start of virtual time to the start of the script; infinite until the script starts. */
  startedMs: number
  /** The installed platform; undefined until the installation is complete. */
  founded: Founded | undefined
  /** True if a record or a machine changed since the invariants were last checked. */
  touched: boolean
}

export interface WorldOptions {
  readonly seed: number
  readonly time: VirtualTime
  readonly keyspace: MemoryKeyspace
  readonly residency: ResidencyRules
  readonly registries: ReadonlySet<string>
  readonly pace: Pace
  readonly volumesEnabled: boolean
  /** True if machines and connections have no random delays, so that equal work takes equal time everywhere. */
  readonly steady?: boolean
}

export function createWorld(options: WorldOptions): World {
  const { seed, time, keyspace, residency, registries, pace, volumesEnabled, steady = false } = options
  const trace = createTrace()
  const clock: Clock = { now: () => Math.floor(time.now) }
  const ids = createIds(createRandom(seed, 'ids'), clock.now)
  const delays = createRandom(seed, 'world')
  const random = steady ? { ...delays, below: () => 0 } : delays
  const tenants = new Map<string, TenantId>()
  const mirror = createMirror((kept) => {
    const [tenant = ''] = [...tenants].find(([, id]) => id === kept.tenant) ?? []
    trace.record(eventLine(kept, tenant, offsetOf(world)))
  })
  const onWarning = (server: string, text: string) => trace.note('warning', time.elapsedMs, server, text)
  const world: World = {
    time,
    keyspace,
    ids,
    clock,
    random,
    mirror,
    trace,
    tenants,
    serverDeps: {
      ...{ time, keyspace, clock, ids, random, residency, registries, pace, onWarning, volumesEnabled },
      measure: (nodeId) => measure(world, nodeId),
    },
    servers: new Map(),
    nodes: new Map(),
    behaviours: new Map(),
    acknowledged: [],
    writes: createWriteLog(),
    startedMs: Number.POSITIVE_INFINITY,
    founded: undefined,
    touched: false,
  }
  keyspace.onWrite((write) => {
    trace.noteWrite(write)
    if (mirror.apply(write)) world.touched = true
  })
  return world
}

export const offsetOf = ({ time, startedMs }: World): number => time.elapsedMs - startedMs

export function record(world: World, line: Omit<StoryLine, 'atMs'>): void {
  world.trace.record({ atMs: offsetOf(world), ...line })
}

export async function turnOn(world: World, name: string): Promise<void> {
  if (world.servers.get(name) !== undefined) return
  const server = await startServer(world.serverDeps, name)
  world.servers.set(name, server)
  world.touched = true
}

export function turnOff(world: World, name: string): void {
  const server = world.servers.get(name)
  if (server === undefined) return
  server.process.alive = false
  server.disconnect()
  world.servers.set(name, undefined)
  for (const { link } of world.nodes.values())
    if (link?.serverProcess === server.process) link.reset('server')
  world.touched = true
}

export const liveServers = ({ servers }: World): Server[] => [...servers.values()].flatMap((one) => one ?? [])

export function addNode(world: World, tenant: TenantId, machine: Machine, identity: Identity): SimulatedNode {
  const { time, random } = world
  const engine = engineOf(
    {
      time,
      random,
      behaviourOf: (owner) => behaviourOf(world, tenant, owner),
      onTouched: () => {
        world.touched = true
      },
    },
    machine,
  )
  const agent = newProcess(`agent ${machine.name}`)
  const node: SimulatedNode = {
    tenant,
    machine,
    engine,
    identity,
    agent,
    running: undefined,
    starts: 0,
    link: undefined,
  }
  world.nodes.set(machine.name, node)
  return node
}

function behaviourOf({ mirror, behaviours }: World, tenant: TenantId, owner: Owner): Behaviour {
  const uid = deploymentUidOf(owner)
  const found = mirror.records().deployments.find(({ record }) => record.uid === uid)
  return behaviours.get(`${tenant}/${found?.record.spec.name ?? ''}`) ?? {}
}

export function startNodeAgent(world: World, node: SimulatedNode): void {
  const { time, random, ids } = world
  const { machine, engine, identity } = node
  node.starts += 1
  node.agent = newProcess(`agent ${machine.name}`)
  time.runAs(node.agent, () => {
    const bootId = ids.ulid()
    const dial = () => dialFrom(world, node)
    const session = startAgentSession({ random, machine, identity, bootId, dial, agent: () => agent })
    const agent = startAgent({
      ...{ time, random, machine, engine, starts: node.starts, self: identity.nodeId },
      report: session.report,
      reportCopies: session.reportCopies,
      reach: (peer) => reachPeer(world, node, peer),
      onTouched: () => {
        world.touched = true
      },
    })
    node.running = agent
  })
}

const isOnline = ({ machine, agent }: SimulatedNode): boolean =>
  machine.powered && machine.connected && agent.alive

/** The agent of a peer, if both machines are online and each agent was sent the other's address and key by a server. */
function reachPeer({ nodes }: World, from: SimulatedNode, { address, nodeId, publicKeys }: Peer) {
  const peer = [...nodes.values()].find(({ machine }) => machine.pool?.address === address)
  if (peer === undefined || !isOnline(from) || !isOnline(peer)) return undefined
  if (peer.identity.nodeId !== nodeId || !publicKeys.includes(peer.identity.publicKey)) return undefined
  return peer.running?.peerSide(from.identity.nodeId, from.identity.publicKey)
}

/** The answer of a node's agent to the call `measure`. */
function measure({ nodes }: World, nodeId: NodeId) {
  const node = [...nodes.values()].find(({ identity }) => identity.nodeId === nodeId)
  return node === undefined || !isOnline(node) ? 'unreachable' : (node.running?.measurements() ?? [])
}

/** Ends the agent process of a node. A machine with power and network also closes the agent's connections. */
export function stopNodeAgent(node: SimulatedNode): void {
  node.agent.alive = false
  node.machine.onChange = () => {}
  if (node.machine.powered && node.machine.connected) node.link?.reset('agent')
  node.link = undefined
}

/** Connects an agent through a load balancer, which may choose any server, dead or alive. */
function dialFrom(world: World, node: SimulatedNode): AgentSideSocket | undefined {
  const { time, random, servers, trace } = world
  const server = [...servers.values()][random.below(servers.size)]
  if (server === undefined) return undefined
  const onMessage = (from: string, text: string) => trace.note('message', time.elapsedMs, from, text)
  const link = openLink({ time, random, onMessage }, node.agent, server.process)
  node.link = link
  time.plan(1, server.process, () => server.gateway.accept(link.server))
  return link.agent
}

export function snapshotOf(world: World): Snapshot {
  const { time, keyspace, mirror, nodes, servers, tenants, acknowledged, writes } = world
  return {
    now: time.now,
    revision: keyspace.revision,
    ...mirror.records(),
    machines: [...nodes.values()].map(({ machine, identity: { nodeId, generation }, tenant }) => {
      const { name, powered, connected, labels } = machine
      return {
        nodeId,
        generation,
        tenant,
        name,
        powered,
        connected,
        labels,
        containers: containersOf(machine),
        copies: copiesOf(machine),
        poolBytes: machine.pool?.poolBytes,
      }
    }),
    servers: [...servers].map(([name, server]) => ({
      name,
      replica: server?.replica ?? '',
      alive: server !== undefined,
      holds: server === undefined ? [] : [...tenants.values()].filter(server.leadership.owns),
    })),
    acknowledged,
    writes,
  }
}

function copiesOf({ pool }: Machine): SimulatedCopy[] {
  return [...(pool?.volumes ?? [])].map(([volume, { live, note, checkpoints }]) => ({
    volume,
    live: live && {
      content: live.content,
      epoch: note?.content?.epoch ?? 0,
      isMade: note?.content?.isMade === true,
    },
    checkpoints,
  }))
}
