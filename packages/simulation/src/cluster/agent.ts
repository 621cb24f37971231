// A simulated agent. It plans with the same functions as the real agent, acts on a simulated machine and reports the
// containers that it observes there. The agent may die at any moment; the containers keep running.

import {
  type AskedVolume,
  type AssignmentId,
  type DesiredItem,
  lackedCapabilities,
  type Measurement,
  type NodeId,
  type Observation,
  type ObservedCopy,
  type ObservedNetwork,
  type Peer,
  type PromiseAnswer,
  type TenantId,
} from '@holdfast/contract'
import {
  AGENT_VERSION,
  classifyOrphans,
  hasChanged,
  isStartedByAgent,
  type MissingMarks,
  markMissing,
  type NodeAction,
  observeReplica,
  planNode,
  type ReplicaView,
  restartDelay,
  runsOnce,
  storedMounts,
  VOLUME_NOT_MOUNTED,
} from '@holdfast/core/node'
import { createJoined, type Joined, joinsNetworks, startJoined } from '../networks/join-networks.ts'
import { type NetworkKeeper, type NetworksChange, startNetworkKeeper } from '../networks/keep-networks.ts'
import type { Random } from '../time/random.ts'
import type { VirtualTime } from '../time/virtual-time.ts'
import type { CopiesChange } from '../volumes/keep-copies.ts'
import type { PeerSide, ReachPeer } from '../volumes/peers.ts'
import type { PromiseMessage } from '../volumes/promises/keep-promises.ts'
import { startVolumeAgent, type VolumeAgent, type VolumeAgentDeps } from '../volumes/volume-agent.ts'
import { createFailedCreations, type FailedCreations, type MetFault } from './failed-creations.ts'
import type { Engine, Machine } from './machine.ts'
import { inspected, listed } from './seen-containers.ts'

export interface DesiredSet extends CopiesChange, NetworksChange {
  readonly revision: number
  readonly items: readonly DesiredItem[]
  readonly gone: readonly string[]
  /** The attempts of jobs whose logs the node keeps; undefined if that is unknown. */
  readonly jobLogs: readonly AssignmentId[] | undefined
}

export interface Agent {
  take(set: DesiredSet): void
  /** The agent's newest report of each assignment. */
  reports(): Observation[]
  containers(): { readonly id: string; readonly name: string; readonly state: string }[]
  copies(): ObservedCopy[]
  networks(): ObservedNetwork[]
  measurements(): Measurement[]
  /** The answer to a call of the server about promises. */
  promises(method: 'promises' | 'prepare', asked: readonly AskedVolume[]): PromiseAnswer[]
  /** Receives the promises of another agent; the sender must be a peer that the server named. */
  receive(from: NodeId, key: string, message: PromiseMessage): void
  /** The agent as the node reaches it that the server named as a peer; undefined if this agent does not know that node. */
  peerSide(from: NodeId, key: string): PeerSide | undefined
}

export interface AgentDeps {
  readonly time: VirtualTime
  readonly random: Random
  readonly machine: Machine
  readonly engine: Engine
  /** Number of agent starts on the machine. A later agent's reports have higher numbers than an earlier agent's. */
  readonly starts: number
  readonly self: NodeId
  readonly tenant: TenantId
  readonly reach: ReachPeer
  post(peer: Peer, message: PromiseMessage): void
  readonly configure: VolumeAgentDeps['configure']
  reportCopies(copies: readonly ObservedCopy[]): void
  reportNetworks(networks: readonly ObservedNetwork[]): void
  onTouched(): void
  report(observations: readonly Observation[]): void
}

interface Running extends AgentDeps {
  readonly desired: Map<AssignmentId, DesiredItem>
  readonly workedOn: Map<AssignmentId, ReplicaView['activity']>
  readonly reported: Map<AssignmentId, Observation>
  readonly unsent: Map<AssignmentId, Observation>
  /** Assignments whose container waits for a volume or a network, with the reason that is reported. */
  readonly waiting: Map<AssignmentId, string>
  readonly failedCreations: FailedCreations
  readonly networks: NetworkKeeper
  mayStart(item: DesiredItem): boolean
  readonly delays: Map<string, number>
  volumes: VolumeAgent | undefined
  marks: MissingMarks
  sets: { revision: number; assignments: ReadonlySet<AssignmentId>; receivedMs: number }[]
  listedOnce: boolean
  seq: number
  planned: boolean
  sending: boolean
}

/** The reason that the real agent reports if a network of a container cannot be created or joined. */
const NETWORK_FAILED = 'network_failed'
const NUMBERS_PER_START = 2 ** 32
/** Delay before the agent sends a report, as in the real agent: a newer report in this time replaces the older one. */
const HOLD_MS = 250

export function startAgent(deps: AgentDeps): Agent {
  const { tenant, machine, engine } = deps
  const desired = new Map<AssignmentId, DesiredItem>()
  const running: Running = {
    ...deps,
    desired,
    mayStart: (item) => mayStart(running, item),
    networks: startNetworkKeeper({
      ...{ tenant, machine, calls: engine.networks, items: desired },
      report: deps.reportNetworks,
    }),
    workedOn: new Map(),
    reported: new Map(),
    unsent: new Map(),
    waiting: new Map(),
    failedCreations: createFailedCreations(deps.random, machine),
    delays: new Map(),
    volumes: undefined,
    marks: new Map(),
    sets: [],
    listedOnce: false,
    planned: false,
    sending: false,
    seq: deps.starts * NUMBERS_PER_START,
  }
  const { pool } = deps.machine
  if (pool !== undefined)
    running.volumes = startVolumeAgent({
      ...deps,
      pool,
      report: deps.reportCopies,
      post: (to, message) => {
        const peer = running.volumes?.peers().find(({ nodeId }) => nodeId === to)
        if (peer !== undefined) deps.post(peer, message)
      },
      onMounts: () => planPass(running),
    })
  deps.machine.onChange = () => planPass(running)
  return {
    take(set) {
      takeSet(running, set)
      if (set.jobLogs !== undefined) keepJobLogs(running, set.jobLogs)
      running.volumes?.apply(set)
      running.networks.apply(set)
      planPass(running)
    },
    reports: () => [...running.reported.values()],
    networks: () => running.networks.observed(),
    copies: () => running.volumes?.observed() ?? [],
    measurements: () => running.volumes?.measurements() ?? [],
    promises: (method, asked) => running.volumes?.promises.answer(method, asked) ?? [],
    receive: (from, key, message) => peerOf(running, from, key)?.promises.receive(from, message),
    peerSide: (from, key) => peerOf(running, from, key)?.peerSide,
    containers: () =>
      [...deps.machine.containers.values()].map(({ id, name, state }) => ({ id, name, state })),
  }
}

/** The part of the agent that peers reach, if the server has named the node as a peer. */
function peerOf({ volumes }: Running, from: NodeId, key: string): VolumeAgent | undefined {
  const isKnown = volumes
    ?.peers()
    .some(({ nodeId, publicKeys }) => nodeId === from && publicKeys.includes(key))
  return isKnown === true ? volumes : undefined
}

function takeSet(running: Running, { complete, items, gone, revision }: DesiredSet): void {
  const { desired, reported, unsent, time } = running
  const named = new Set(items.map(({ assignmentId }) => assignmentId))
  for (const id of desired.keys()) if ((complete && !named.has(id)) || gone.includes(id)) desired.delete(id)
  for (const item of items) desired.set(item.assignmentId, item)
  for (const kept of [reported, unsent]) for (const id of kept.keys()) if (!desired.has(id)) kept.delete(id)
  if (complete) running.sets.push({ revision, assignments: named, receivedMs: time.elapsedMs })
}

/** A log is kept so long, like the real agent's, until a server knows the attempt. */
const UNREPORTED_MS = 10 * 60_000

/** Deletes the logs of jobs that the server no longer has. */
function keepJobLogs({ machine, desired, time }: Running, kept: readonly AssignmentId[]): void {
  const known = new Set([...kept, ...desired.keys()])
  for (const [id, keptAt] of machine.jobLogs)
    if (!known.has(id) && keptAt < time.now - UNREPORTED_MS) machine.jobLogs.delete(id)
}

/** Plans once for all changes that happen at the same virtual time. */
function planPass(running: Running): void {
  if (running.planned) return
  running.planned = true
  setImmediate(() => {
    running.planned = false
    pass(running)
  })
}

function pass(running: Running): void {
  const own = [...running.machine.containers.values()].map(listed)
  const desired = [...running.desired.values()]
  for (const set of running.sets.splice(0)) running.marks = markMissing(running.marks, set, own)
  const { remove } = classifyOrphans(running.marks, own, new Set(running.desired.keys()))
  const actions = planNode(desired, own, {
    names: new Set(own.map(({ name }) => name)),
    pendingNames: new Map(),
    skip: new Set([...running.workedOn.keys(), ...backingOff(running)]),
    mayCreate: (id) => !isLacking(running, running.desired.get(id)),
    // No other program removes containers of a simulated machine.
    hasRun: () => false,
    startedContainer: () => undefined,
    unsafe: new Set(),
    orphans: remove,
  })
  for (const action of actions) void act(running, action)
  running.listedOnce = true
  for (const item of desired) look(running, item)
}

/** Only a container that is desired waits for its next attempt. */
const backingOff = ({ failedCreations, desired }: Running): AssignmentId[] =>
  failedCreations.waiting().filter((id) => desired.get(id)?.desired === 'running')

/** Whether the agent lacks a capability that the item needs. An agent without a list has all that a script uses. */
const isLacking = ({ machine: { capabilities } }: Running, item: DesiredItem | undefined): boolean =>
  capabilities !== undefined && lackedCapabilities(item?.needs, capabilities).length > 0

const idOf = (action: NodeAction): AssignmentId =>
  action.kind === 'remove' ? action.assignmentId : action.item.assignmentId

async function act(running: Running, action: NodeAction): Promise<void> {
  const { workedOn, machine, engine, random } = running
  const id = idOf(action)
  const begin = (activity: ReplicaView['activity']): void => {
    workedOn.set(id, activity)
    const item = running.desired.get(id)
    if (item !== undefined) look(running, item)
  }
  const held = (containerId: string) => machine.containers.get(containerId)
  if (action.kind === 'create') {
    begin('pulling')
    await pause(20 + random.below(400))
    begin('starting')
    if (machine.creationFault !== undefined) return failCreation(running, id, machine.creationFault)
    if (joinsNetworks(action.item)) return settle(running, id, await createJoined(running, action))
    const isDesired = running.desired.get(id)?.desired === 'running'
    if (isDesired && !mayStart(running, action.item)) return wait(running, id, VOLUME_NOT_MOUNTED)
    const queued = isDesired ? engine.start(engine.create(action.item, action.name)) : undefined
    if (queued !== undefined) await queued
  }
  if (action.kind === 'start') {
    begin('starting')
    await pause(10 + random.below(50) + delayOf(running, action))
    const container = held(action.container.id)
    if (joinsNetworks(action.item))
      return settle(running, id, await startJoined(running, action.item, container))
    if (!mayStart(running, action.item)) return wait(running, id, VOLUME_NOT_MOUNTED)
    const isStopped = container !== undefined && container.state !== 'running'
    const queued = isStopped ? engine.start(container) : undefined
    if (queued !== undefined) await queued
  }
  if (action.kind === 'stop' || action.kind === 'remove') {
    begin('stopping')
    const all = action.kind === 'stop' ? [action.container] : action.containers
    for (const container of all.flatMap((one) => held(one.id) ?? [])) {
      if (container.state === 'running' || container.state === 'restarting') await engine.stop(container)
      if (action.kind !== 'remove') continue
      if (runsOnce(container.template)) machine.jobLogs.set(id, running.time.now)
      engine.remove(container)
    }
  }
  end(running, id)
}

/** Tries again after a delay, unless the container is not desired then. */
function failCreation(running: Running, id: AssignmentId, fault: MetFault): void {
  const { failedCreations, workedOn, desired } = running
  const delayMs = failedCreations.record(id, fault)
  workedOn.delete(id)
  const item = desired.get(id)
  if (item !== undefined) look(running, item)
  setTimeout(() => {
    failedCreations.retry(id)
    planPass(running)
  }, delayMs)
}

function end(running: Running, id: AssignmentId): void {
  running.workedOn.delete(id)
  running.failedCreations.clear(id)
  running.waiting.delete(id)
  planPass(running)
}

/** Ends an action on a container with networks, or leaves it until its network or volume is there. */
function settle(running: Running, id: AssignmentId, joined: Joined): void {
  if (joined === 'done') end(running, id)
  else if (joined === 'no-volume') wait(running, id, VOLUME_NOT_MOUNTED)
  else waitForNetwork(running, id)
}

/** Delay before the agent tries again to start a container whose network is not there. */
const NETWORK_RETRY_MS = 4_000

function waitForNetwork(running: Running, id: AssignmentId): void {
  running.networks.forget()
  wait(running, id, NETWORK_FAILED)
  setTimeout(() => planPass(running), NETWORK_RETRY_MS)
}

/** A machine without a pool cannot start a container with volumes. */
function mayStart({ volumes }: Running, { assignmentId, template }: DesiredItem): boolean {
  return storedMounts(template).length === 0 || volumes?.mayStart(assignmentId, template) === true
}

/** Leaves a container that cannot start yet. It is planned again when copies or containers change. */
function wait(running: Running, id: AssignmentId, reason: string): void {
  running.workedOn.delete(id)
  running.waiting.set(id, reason)
  const item = running.desired.get(id)
  if (item !== undefined) look(running, item)
}

/** The delay before a container that only the agent starts is started again. */
function delayOf({ delays, machine }: Running, { item, container }: NodeAction & { kind: 'start' }): number {
  const seen = machine.containers.get(container.id)
  if (!isStartedByAgent(item.template) || seen?.startedWallMs === undefined) return 0
  const startedAt = new Date(seen.startedWallMs).toISOString()
  const finishedAt = new Date(Date.now()).toISOString()
  const delayMs = restartDelay(delays.get(container.id), { startedAt, finishedAt })
  delays.set(container.id, delayMs)
  seen.restarts += 1
  return delayMs
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function look(running: Running, item: DesiredItem): void {
  const id = item.assignmentId
  const before = running.reported.get(id)
  const observed = observeReplica(viewOf(running, item), before)
  if (observed === undefined || !hasChanged(before, observed)) return
  running.seq += 1
  const observation = { ...observed, seq: running.seq }
  running.reported.set(id, observation)
  running.unsent.set(id, observation)
  send(running, isStep(observation))
}

function viewOf(running: Running, item: DesiredItem): ReplicaView {
  const { machine, workedOn, listedOnce } = running
  const container = [...machine.containers.values()].find((one) => one.assignmentId === item.assignmentId)
  const seen = container && inspected(container)
  const creating = workedOn.has(item.assignmentId) && container === undefined
  return {
    ...{
      item,
      activity: workedOn.get(item.assignmentId),
      creating,
      trouble: container === undefined && isLacking(running, item) ? AGENT_VERSION : waitOf(running, item),
      about: '',
      cause: '',
      unverified: false,
      ...running.failedCreations.reported(item.assignmentId),
    },
    container: seen ?? (listedOnce ? 'absent' : 'unknown'),
    readySince: container?.ready === true ? (seen?.startedAt ?? undefined) : undefined,
  }
}

const waitOf = ({ waiting }: Running, { assignmentId }: DesiredItem): string =>
  waiting.get(assignmentId) ?? ''

const isStep = ({ state, reason, gone }: Observation): boolean =>
  ['pulling', 'starting', 'running'].includes(state) && reason === '' && !gone

function send(running: Running, mayWait: boolean): void {
  const flush = (): void => {
    running.sending = false
    const batch = [...running.unsent.values()]
    running.unsent.clear()
    if (batch.length > 0) running.report(batch)
  }
  if (!mayWait) setImmediate(flush)
  else if (!running.sending) {
    running.sending = true
    setTimeout(flush, HOLD_MS)
  }
}
