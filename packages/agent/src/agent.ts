// Wires the agent together: the session delivers desired sets, the convergence loop acts on them, the observer records
// container states in the status table, and the table reports changes to the server. Stopping the agent stops no
// container.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  type AssignmentId,
  type DesiredItem,
  type DiskUse,
  defined,
  engineWarnings,
  type KeptEpoch,
} from '@holdfast/contract'
import type { Logger } from 'pino'
import { type ConvergeDeps, startConverging } from './converge/converge.ts'
import { createDesiredSet } from './converge/desired-set.ts'
import { createRequisites } from './converge/requisites.ts'
import { createEngineDisk } from './images/engine-disk.ts'
import { createImageKeeper } from './images/keep-images.ts'
import { openPullRecord, type PullRecord } from './images/pull-record.ts'
import { startCollector } from './images/start-collector.ts'
import { type NetworkKeeper, startNetworkKeeper } from './networks/keep-networks.ts'
import { createFailedLogs } from './observe/keep-failed-logs.ts'
import { listMachine, listRunning } from './observe/list-containers.ts'
import { createObserver } from './observe/observe.ts'
import { createReadiness } from './observe/readiness.ts'
import { createReplicaStatusTable } from './observe/replica-status-table.ts'
import { type DiskReporter, startDiskReporter } from './observe/report-disks.ts'
import { createEngineWatch } from './observe/watch-engine.ts'
import type { DiskReader } from './ports/disk.ts'
import type { Engine, EngineVersion } from './ports/engine.ts'
import type { OomKills } from './ports/oom-kills.ts'
import type { RouterAdmin } from './ports/router.ts'
import type { DesiredChange, StartSession, Storage } from './ports/session.ts'
import type { UsageReader } from './ports/usage.ts'
import type { MountableCopies } from './ports/volume-copies.ts'
import { MOUNT_POINTS } from './ports/volume-pool.ts'
import { openRouterKeys, type RouterKeys } from './routing/router-keys.ts'
import { type Routing, startRouting } from './routing/start-routing.ts'
import { createServerLink, type ServerLink } from './session/server-link.ts'
import { type NodeVolumes, startVolumes, type VolumeOptions } from './start-volumes.ts'
import { type Authorities, openAuthorities } from './state/authorities.ts'
import { openDesiredFile } from './state/desired-file.ts'
import { type ExitCounts, openExitCounts } from './state/exit-counts.ts'
import { type AgentBuild, machineFacts, THIS_BUILD } from './state/machine.ts'
import { createNodeRole } from './state/node-role.ts'
import type { NodeState } from './state/node-state.ts'
import { countStart } from './state/start-count.ts'
import { openStartNotes, type StartNotes } from './state/start-notes.ts'
import { openStoreGuard, type StoreGuard } from './state/store-guard.ts'
import { createKeptLogs, eitherKept, JOB_LOGS, type KeptLogs } from './streams/kept-logs.ts'
import { createSessionStreams } from './streams/node-streams.ts'
import { type RunningContainer, startSampler } from './usage/sample-node.ts'

/** Number of concurrent creates and starts per CPU core; more would only make each create and start slower. */
const WORK_PER_CORE = 2
/** The cgroup of all containers that write volumes, unless another is given. */
export const WRITERS_CGROUP = 'holdfast'

export interface AgentOptions extends VolumeOptions {
  readonly state: NodeState
  readonly engine: Engine
  readonly startSession: StartSession
  /** OOM kills by the kernel; undefined: only those that the engine reports are known. */
  readonly oomKills?: OomKills | undefined
  /** Reads the usage of containers and machine; undefined: the agent sends no samples. */
  readonly usage?: UsageReader
  /** Reads how full the disk of the engine is; undefined: the agent removes no images. */
  readonly disk?: DiskReader
  /** How often unused images are removed. */
  readonly imageCheckMs?: number
  /** The clock for the ages of images, in milliseconds since 1970; by default that of the machine. */
  imageNow?(): number
  /** The node's router; undefined: this node routes nothing. */
  readonly router?: RouterAdmin
  /** The address at which the tenant's other nodes reach this node's router. */
  readonly peerAddress?: string
  /** The address for the same requests by mutual TLS; undefined: plain HTTP only. */
  readonly securePeerAddress?: string
  /** The copies of volumes that containers may mount; undefined: those of the node's own pool. */
  readonly copies?: MountableCopies
  /** The cgroup of all containers that write volumes. */
  readonly cgroup?: string
  readonly concurrency?: number
  readonly build?: AgentBuild
  /** How often the networks of the engine are checked. */
  readonly networkCheckMs?: number
  /** A monotonic clock in milliseconds; the process clock by default. */
  monotonicMs?(): number
  readonly log: Logger
}

export interface Agent {
  close(): Promise<void>
}

const elapsedMs = (): number => performance.now()

/**
 * Starts the agent. Its parts are connected in this order: the status table reports to routing, the observer notifies the
 * converger, and every part reaches the server through a link that is attached to the session at the end.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { state, folder, engine, log, build = THIS_BUILD, monotonicMs = elapsedMs } = options
  const file = openSavedSet(options)
  const starts = await countStart(folder, log)
  const saved = await file.read()
  const engineVersion = await readEngineVersion(options)
  const keys = options.securePeerAddress ? await openRouterKeys(folder, state, log) : undefined
  const server = createServerLink()
  const desiredSet = createDesiredSet()
  const { desired } = desiredSet
  const volumes = await startVolumes(options, { server, desired, start: starts, monotonicMs })
  const role = createNodeRole(folder, state, log)
  const guard = await openStoreGuard(folder, state, log)
  const authorities = await openTrust(options, server)
  const statuses = createReplicaStatusTable(starts.number)
  const routing = startNodeRouting(options, { server, desired, statuses, keys, monotonicMs })
  const networks = startNetworks(options, { server, desiredSet, routing })
  const kept = await openKept(options)
  const storage = { copies: options.copies ?? volumes, gate: volumes.gate }
  const readDisk = readEngineDisk(options)
  const shared = { server, desiredSet, statuses, routing, networks, monotonicMs, readDisk }
  const node = startNode(options, { ...shared, ...storage, ...kept, mayCreate: role.mayCreate })
  volumes.onImages(node.images.keep)
  const disks = startDisks(readDisk, volumes, server)

  const apply = (change: DesiredChange, source: 'server' | 'disk'): void => {
    node.converger.setDesired(change, source)
    routing.apply(change)
    for (const part of [volumes, networks]) part.apply(change, source)
  }
  const onDesired = (sent: DesiredChange): void => {
    const change = guard.check(sent, desired)
    apply(change, 'server')
    if (change.jobLogs !== undefined) keepJobLogs(kept.jobLogs, desired, change.jobLogs)
    const others = { ...routing.saved(), ...volumes.saved(), ...networks.saved() }
    file.save({ revision: change.revision, items: [...desired.values()], ...others })
  }
  const engineWatch = createEngineWatch({ engine, monotonicMs })
  const session = options.startSession({
    state,
    machine: () => machineFacts(configuredFacts(options, keys, volumes.storage()), engineVersion, build),
    onWelcome: (reported) => {
      guard.noteSession(reported.session)
      role.apply(reported, desired.values())
    },
    onDesired,
    engineHealth: engineWatch.health,
    hold: () => guard.held,
    containers: () => listMachine(engine, state, statuses),
    ...volumeAnswers(volumes, guard),
    ...defined({ sampler: node.sampler, disks: disks?.disks }),
    ...{ networks: networks.observed, authorities },
    streams: createSessionStreams(streamParts(options, kept, volumes)),
    log,
  })
  server.attach(session)
  void disks?.check()
  if (saved !== undefined) apply({ ...saved, complete: true, gone: [] }, 'disk')
  return {
    async close() {
      for (const part of [session, engineWatch, disks]) part?.close()
      await volumes.close()
      keys?.close()
      await node.close()
      await networks.close()
      routing.close()
      for (const part of [file, role, guard, authorities, starts]) await part.close()
    },
  }
}

interface RoutingParts extends Pick<NodeParts, 'server' | 'statuses' | 'monotonicMs'> {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  readonly keys: RouterKeys | undefined
}

function startNodeRouting(
  { engine, router: admin, log }: AgentOptions,
  { server, desired, statuses, keys, monotonicMs }: RoutingParts,
): Routing {
  const { view } = statuses
  const identity = keys?.identity
  const routing = startRouting({
    engine,
    admin,
    desired,
    view,
    report: server.report,
    identity,
    monotonicMs,
    log,
  })
  statuses.reportTo(routing.report)
  return routing
}

/** The server learns of an attempt's end after its log was kept, so a new log is never deleted. */
const UNREPORTED_MS = 10 * 60_000

/** Deletes the logs of jobs that the server no longer has. */
function keepJobLogs(
  jobLogs: KeptLogs,
  desired: ReadonlyMap<AssignmentId, unknown>,
  kept: readonly AssignmentId[],
): void {
  void jobLogs.keepOnly(new Set([...kept, ...desired.keys()]), Date.now() - UNREPORTED_MS)
}

async function openTrust({ folder, state, log }: AgentOptions, server: ServerLink): Promise<Authorities> {
  const authorities = await openAuthorities(folder, state, log, () =>
    server.reportAuthorities(authorities.pins()),
  )
  return authorities
}

const openSavedSet = ({ folder, state, log }: AgentOptions) =>
  openDesiredFile(folder, state, (error, act) =>
    log.error(
      { message: String(error) },
      act === 'read' ? 'desired set on disk is unusable' : 'desired set write failed, retrying',
    ),
  )

const streamParts = (
  { engine, state: { tenant }, log }: AgentOptions,
  { keptLogs, jobLogs }: Pick<Awaited<ReturnType<typeof openKept>>, 'keptLogs' | 'jobLogs'>,
  { divergences }: NodeVolumes,
) => ({ engine, tenant, keptLogs: eitherKept(jobLogs, keptLogs), divergences, log })

const startNetworks = (
  { engine, state, networkCheckMs, log }: AgentOptions,
  { server, desiredSet, routing }: Pick<NodeParts, 'server' | 'desiredSet' | 'routing'>,
): NetworkKeeper =>
  startNetworkKeeper({
    engine,
    tenant: state.tenant,
    items: desiredSet.desired,
    addresses: routing.addresses,
    report: server.reportNetworks,
    checkMs: networkCheckMs,
    log,
  })

type ReadDisk = () => Promise<DiskUse | undefined>

const readEngineDisk = ({ engine, disk, log }: AgentOptions): ReadDisk | undefined =>
  disk && createEngineDisk({ engine, disk, log })

const startDisks = (
  readEngine: ReadDisk | undefined,
  { storage }: NodeVolumes,
  { reportDisks }: ServerLink,
): DiskReporter | undefined =>
  readEngine && startDiskReporter({ readEngine, pool: storage, report: reportDisks })

const volumeAnswers = (volumes: NodeVolumes, guard: StoreGuard) => ({
  copies: volumes.observed,
  pool: volumes.poolReport,
  measure: volumes.measurements,
  checkpoint: volumes.checkpoint,
  promises: volumes.promises.answer,
  async deleteDivergence(kept: KeptEpoch) {
    if (guard.held !== undefined) throw new Error(`nothing is removed: ${guard.held}`)
    return volumes.divergences.remove(kept)
  },
})

/** Opens the facts about containers that outlast a run of the agent. */
const openKept = async ({ engine, folder, log }: AgentOptions) => ({
  keptLogs: createKeptLogs({ engine, folder, now: () => Date.now(), log }),
  jobLogs: createKeptLogs({ engine, folder, now: () => Date.now(), log }, JOB_LOGS),
  exitCounts: await openExitCounts(folder, log),
  startNotes: await openStartNotes(folder, log),
  pulls: await openPullRecord(folder, log),
})

function configuredFacts(
  { state, peerAddress, securePeerAddress, peers }: AgentOptions,
  keys: RouterKeys | undefined,
  storage: Storage | undefined,
) {
  const router = { peerAddress, securePeerAddress, peerCertificate: keys?.announced() }
  return { ...state, ...defined({ ...router, agentPeerAddress: peers?.address, storage }) }
}

async function readEngineVersion({ engine, state, log }: AgentOptions): Promise<EngineVersion> {
  const found = await engine.version().catch((error: unknown) => {
    log.warn({ message: String(error) }, 'engine did not answer, using its last known version')
    return state.engineVersion
  })
  for (const warning of engineWarnings(found.version)) log.warn(warning, 'engine version warning')
  return found
}

interface NodeParts
  extends Pick<ConvergeDeps, 'desiredSet' | 'statuses' | 'mayCreate' | 'monotonicMs' | 'copies' | 'gate'> {
  readonly server: ServerLink
  readonly routing: Routing
  readonly networks: NetworkKeeper
  readonly keptLogs: KeptLogs
  readonly jobLogs: KeptLogs
  readonly exitCounts: ExitCounts
  readonly startNotes: StartNotes
  readonly pulls: PullRecord
  /** Undefined: no disk is measured. */
  readonly readDisk: ReadDisk | undefined
}

/** Starts the parts that work on the engine. The observer starts last, because it notifies the converger. */
function startNode(
  { state, folder, log, concurrency, oomKills, host, build = THIS_BUILD, ...options }: AgentOptions,
  { server, routing, keptLogs, jobLogs, exitCounts, pulls, ...parts }: NodeParts,
) {
  const { engine, addresses, drain } = routing
  const { tenant } = state
  const { statuses } = parts
  const { registryCredential, containerEnvironment, reportOrphans } = server
  const { imageNow = Date.now } = options
  const readiness = createReadiness({ engine, statuses, now: () => Date.now(), log })
  const places = { volumes: join(folder, MOUNT_POINTS), cgroup: options.cgroup ?? WRITERS_CGROUP }
  const { explainKill } = parts.gate
  const seen = { statuses, readiness, exitCounts, oomKills, explainKill }
  const observer = createObserver({ engine, tenant, places, ...seen, log })
  const failedLogs = createFailedLogs(keptLogs, jobLogs, { statuses, monotonicMs: parts.monotonicMs, log })
  const requisites = createRequisites({
    engine,
    tenant,
    registryCredential,
    onNetwork: addresses.setSubnet,
    onPull: (reference) => pulls.notePull(reference, imageNow()),
    onPullFailed: () => void collector?.check(),
    log,
  })
  const images = createImageKeeper({ requisites, engine, log })
  const collected = { engine, pulls, images, requisites, ...parts, now: imageNow, log }
  const collector = startCollector(collected, options.imageCheckMs)
  const converger = startConverging({
    ...parts,
    failedLogs,
    engine,
    tenant,
    observer,
    places,
    host,
    requisites,
    addresses,
    drain,
    containerEnvironment,
    capabilities: build.capabilities,
    onOrphansLeft: reportOrphans,
    concurrency: concurrency ?? WORK_PER_CORE * availableParallelism(),
    random: Math.random,
    log,
  })
  observer.start({ onChange: converger.nudge, onUnsafe: converger.markUnsafe, onExit: failedLogs.onExit })
  const running = (): RunningContainer[] => listRunning(parts.desiredSet.desired.keys(), statuses)
  const sampler = options.usage && startSampler({ ...parts, reader: options.usage, running })
  return {
    converger,
    images,
    sampler,
    async close() {
      sampler?.close()
      images.close()
      collector?.close()
      observer.close()
      readiness.close()
      failedLogs.close()
      await converger.close()
      await exitCounts.close()
      await pulls.close()
    },
  }
}
