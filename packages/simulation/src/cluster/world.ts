// The whole simulation: the store, the servers, the machines with their agents, and the connections between them.

import {
  deploymentUidOf,
  jobIdOf,
  type NodeId,
  type Peer,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import type { Post, PostAnswer } from '@holdfast/server/gateway/peers/post-json'
import type { Clock, IdSource } from '@holdfast/server/ports/clock'
import type { MemoryKeyspace } from '../memory/keyspace.ts'
import { seenNetworks } from '../networks/engine-networks.ts'
import type { Behaviour } from '../script/script.ts'
import { createIds, createRandom, type Random } from '../time/random.ts'
import { createTrace, eventLine, type StoryLine, type Trace } from '../time/trace.ts'
import {
  newProcess,
  newWallClock,
  type SimulatedProcess,
  type VirtualTime,
  type WallClock,
} from '../time/virtual-time.ts'
import type { PromiseMessage } from '../volumes/promises/keep-promises.ts'
import { createWriteLog, type WriteLog } from '../volumes/written.ts'
import type { Agent } from './agent.ts'
import { startAgent } from './agent.ts'
import { engineForAgent } from './agent-engine.ts'
import { type Identity, startAgentSession } from './agent-session.ts'
import type { Founded } from './ask.ts'
import { notCreated } from './failed-creations.ts'
import type { Pace } from './given-world.ts'
import { type AgentSideSocket, type Link, openLink } from './link.ts'
import { balancedServers } from './load-balancer.ts'
import { type Engine, engineOf, type Machine } from './machine.ts'
import { createMirror, type Mirror } from './mirror.ts'
import { sampleUsage } from './sample-usage.ts'
import { containersOf } from './seen-containers.ts'
import { type Server, type ServerDeps, startServer } from './server.ts'
import type { Acknowledged, SimulatedContainer, SimulatedCopy, Snapshot } from './snapshot.ts'

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
  /** Container behavior by `tenant/name` of a deployment, `tenant/canary/name` of its canary and `tenant/job/name` of a job. */
  readonly behaviours: Map<string, Behaviour>
  /** The CPU millis that the containers of a deployment use together, by `tenant/name`. */
  readonly loads: Map<string, number>
  readonly loadsChangedAt: Map<string, number>
  readonly acknowledged: Acknowledged[]
  readonly writes: WriteLog
  /** Virtual milliseconds from the start of virtual time to the start of the script; infinite until the script starts. */
  startedMs: number
  /** The installed platform; undefined until the installation is complete. */
  founded: Founded | undefined
  /** Virtual milliseconds from the start of virtual time to the end of the script's steps. Until then messages get lost. */
  troubledUntilMs: number
  /** Number of faults that steps of the script have caused. */
  failures: number
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
  readonly hasNetworks?: boolean
  /** True if machines and connections have no random delays, so that equal work takes equal time everywhere. */
  readonly steady?: boolean
}

export function createWorld(options: WorldOptions): World {
  const { seed, time, keyspace, residency, registries, pace, volumesEnabled, steady = false } = options
  const { hasNetworks = false } = options
  const trace = createTrace()
  const clock: Clock = { now: () => time.wallNow }
  const walls = new Map<string, WallClock>()
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
      hasNetworks,
      measure: (nodeId) => measure(world, nodeId),
      wallOf(server) {
        const wall = walls.get(server) ?? newWallClock()
        walls.set(server, wall)
        return wall
      },
      post: (from, post) => postToServer(world, from, post),
    },
    servers: new Map(),
    nodes: new Map(),
    behaviours: new Map(),
    ...{ loads: new Map(), loadsChangedAt: new Map() },
    acknowledged: [],
    writes: createWriteLog(),
    startedMs: Number.POSITIVE_INFINITY,
    founded: undefined,
    troubledUntilMs: 0,
    failures: 0,
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
      behaviourOf: (container) => behaviourOf(world, tenant, container),
      onTouched: () => {
        world.touched = true
      },
    },
    machine,
  )
  const agent = newProcess(`agent ${machine.name}`, machine.wall)
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

function behaviourOf(
  { mirror, behaviours }: World,
  tenant: TenantId,
  { owner, assignmentId }: Pick<SimulatedContainer, 'owner' | 'assignmentId'>,
): Behaviour {
  const job = jobIdOf(owner)
  if (job !== undefined) {
    const named = mirror.records().jobs.find(({ record }) => record.id === job)
    return behaviours.get(`${tenant}/job/${named?.record.spec.name ?? ''}`) ?? {}
  }
  const uid = deploymentUidOf(owner)
  const found = mirror.records().deployments.find(({ record }) => record.uid === uid)
  const name = found?.record.spec.name ?? ''
  const placement = mirror.records().placements.find(({ record }) => record.owner === owner)
  const isCanary = placement?.record.assignments.some(({ id, canary }) => id === assignmentId && canary)
  return behaviours.get(`${tenant}/${isCanary === true ? 'canary/' : ''}${name}`) ?? {}
}

export function startNodeAgent(world: World, node: SimulatedNode): void {
  const { time, random, ids } = world
  const { machine, identity } = node
  node.starts += 1
  node.agent = newProcess(`agent ${machine.name}`, machine.wall)
  const engine = engineForAgent(time, node.agent, node.engine)
  time.runAs(node.agent, () => {
    const bootId = ids.ulid()
    const dial = () => dialFrom(world, node)
    const sample = () => sampleUsage(world, node)
    const session = startAgentSession({ random, machine, identity, bootId, dial, sample, agent: () => agent })
    const agent = startAgent({
      ...{ time, random, machine, engine, starts: node.starts, self: identity.nodeId, tenant: node.tenant },
      report: session.report,
      reportCopies: session.reportCopies,
      reportNetworks: session.reportNetworks,
      configure: session.configure,
      reach: (peer) => reachPeer(world, node, peer),
      post: (peer, message) => postToPeer(world, node, peer, message),
      onTouched: () => {
        world.touched = true
      },
    })
    node.running = agent
  })
}

const isOnline = ({ machine, agent }: SimulatedNode): boolean =>
  machine.powered && machine.connected && !machine.frozen && agent.alive

/** The agent of a peer, if both machines are online and each agent was sent the other's address and key by a server. */
function reachPeer(world: World, from: SimulatedNode, to: Peer) {
  const peer = findPeer(world, to)
  if (peer === undefined || !isOnline(from) || !isOnline(peer)) return undefined
  if (from.machine.cutTo.has(peer.machine.name) || peer.machine.cutTo.has(from.machine.name)) return undefined
  return peer.running?.peerSide(from.identity.nodeId, from.identity.publicKey)
}

/** The node of a peer, if it has the key that the server named. */
function findPeer({ nodes }: World, { address, nodeId, publicKeys }: Peer): SimulatedNode | undefined {
  const peer = [...nodes.values()].find(({ machine }) => machine.pool?.address === address)
  const isMeant = peer?.identity.nodeId === nodeId && publicKeys.includes(peer.identity.publicKey)
  return isMeant ? peer : undefined
}

/**
 * Sends promises from one agent to another: a message without a connection, which may be lost, late or overtaken. One that
 * was sent before a cut does not arrive during it. A frozen machine reads what has arrived when it continues.
 */
function postToPeer(world: World, from: SimulatedNode, to: Peer, message: PromiseMessage): void {
  const { time, random } = world
  const peer = findPeer(world, to)
  const { nodeId, publicKey } = from.identity
  const isOpen = (): boolean =>
    peer !== undefined &&
    [from, peer].every(({ machine }) => machine.powered && machine.connected) &&
    !from.machine.cutTo.has(peer.machine.name)
  const isTroubled = time.elapsedMs < world.troubledUntilMs
  if (peer === undefined || !isOpen() || (isTroubled && random.below(1000) < LOST_PER_MILLE)) return
  const isLate = isTroubled && random.below(1000) < LATE_PER_MILLE
  const delayMs = 1 + random.below(isLate ? LATE_MS : NEAR_MS)
  time.plan(delayMs, undefined, () => {
    if (isOpen()) time.deliver(peer.agent, () => peer.running?.receive(nodeId, publicKey, message))
  })
}

const LOST_PER_MILLE = 3
const LATE_PER_MILLE = 6
const LATE_MS = 9_000
const NEAR_MS = 20

/** A request of one server to another. Both ways take time; the caller hears nothing of a server that is dead or paused. */
function postToServer(
  { time, servers, random }: World,
  from: SimulatedProcess,
  { url, body, authorization, deadlineMs }: Post,
) {
  const delay = () => 1 + random.below(NEAR_MS)
  return new Promise<PostAnswer>((resolve, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), deadlineMs)
    const arrive = (): void => {
      const server = servers.get(url.hostname)
      if (server === undefined) return
      const request = { headers: { authorization }, path: url.pathname, body }
      time.deliver(server.process, () => {
        void server.gateway
          .internalCallHandler(request)
          .then((answer) => time.plan(delay(), from, () => resolve(answer)))
      })
    }
    time.plan(delay(), undefined, arrive)
  })
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
  const { powered, connected, serversCut } = node.machine
  if (powered && connected && !serversCut) node.link?.reset('agent')
  node.link = undefined
}

/** Connects an agent through a load balancer, which may choose a server that is dead. */
function dialFrom(world: World, node: SimulatedNode): AgentSideSocket | undefined {
  const { time, random, trace } = world
  const offered = balancedServers(world.servers, time.elapsedMs)
  const server = offered[random.below(offered.length)]
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
    machines: [...nodes.values()].map(({ machine, agent, identity: { nodeId, generation }, tenant }) => {
      const { name, powered, connected, labels, frozen, thawedAt, serversCut, cutTo } = machine
      return {
        isHeard: agent.alive && !frozen && !serversCut,
        ...{ frozen, thawedAt, isCut: serversCut || cutTo.size > 0, address: machine.pool?.address ?? '' },
        nodeId,
        generation,
        tenant,
        name,
        powered,
        connected,
        labels,
        containers: containersOf(machine),
        notCreated: notCreated(machine),
        jobLogs: new Set(machine.jobLogs.keys()),
        copies: copiesOf(machine),
        networks: seenNetworks(machine),
        ...{ foreignNetworks: machine.networks.foreign, lostNetworks: machine.networks.lost },
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
    ...{ loads: world.loads, loadsChangedAt: world.loadsChangedAt },
  }
}

function copiesOf({ pool }: Machine): SimulatedCopy[] {
  return [...(pool?.volumes ?? [])].map(([volume, { live, note, checkpoints, quarantined }]) => ({
    volume,
    quarantined,
    promise: pool?.promises.get(volume),
    live: live && {
      content: live.content,
      epoch: note?.content?.epoch ?? 0,
      isMade: note?.content?.isMade === true,
    },
    checkpoints,
  }))
}
