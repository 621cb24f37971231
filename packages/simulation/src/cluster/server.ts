// One server replica as compose.ts builds it, without a network: a connection to the shared store, leadership,
// controllers, gateway and operations. All of this is product code; only the store's engine is simulated.

import { hash } from 'node:crypto'
import type { Measurement, NodeId, ResidencyRules } from '@holdfast/contract'
import { DEFAULT_LIMITS, RESERVED_NAMES } from '@holdfast/core'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import { createGateway, type Gateway } from '@holdfast/server/gateway/gateway'
import type { Post, PostAnswer } from '@holdfast/server/gateway/peers/post-json'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import { createFailureDetector, type FailureDetector } from '@holdfast/server/liveness/failure-detector'
import { startLivenessWatch } from '@holdfast/server/liveness/watch-silent-nodes'
import { driveNetworks } from '@holdfast/server/loops/controllers/networks/drive-networks'
import { startPlacing } from '@holdfast/server/loops/controllers/place-deployments'
import { createReaderViews } from '@holdfast/server/loops/controllers/placement/reader-views'
import { createRunDry } from '@holdfast/server/loops/controllers/planning/run-dry'
import { driveScaling } from '@holdfast/server/loops/controllers/scaling/drive-scaling'
import { driveVolumes } from '@holdfast/server/loops/controllers/volumes/drive-volumes'
import { startPromotions } from '@holdfast/server/loops/controllers/volumes/promote-volumes'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { repeat } from '@holdfast/server/loops/repeat'
import type { DeploymentDeps } from '@holdfast/server/operations/deployments/deps'
import type { RunDry } from '@holdfast/server/operations/dry-runs'
import { createIdempotentAnswers } from '@holdfast/server/operations/idempotency'
import type { NodeDeps } from '@holdfast/server/operations/nodes/deps'
import type { TenantDeps } from '@holdfast/server/operations/tenants/tenants'
import type { VolumeDeps } from '@holdfast/server/operations/volumes/deps'
import { createMeasurements } from '@holdfast/server/operations/volumes/measure-volumes'
import type { Clock, IdSource } from '@holdfast/server/ports/clock'
import { secret } from '@holdfast/server/ports/secret'
import { createQuotas, type QuotaDefaults } from '@holdfast/server/quotas/quotas'
import { createSlotAllocator } from '@holdfast/server/quotas/slots'
import { placements, removals, volumes } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { connectMemory } from '../memory/connect-memory.ts'
import type { MemoryKeyspace } from '../memory/keyspace.ts'
import type { LineCall, LineFault } from '../memory/line.ts'
import type { Random } from '../time/random.ts'
import { newProcess, type SimulatedProcess, type VirtualTime, type WallClock } from '../time/virtual-time.ts'
import { engineFor } from './engine.ts'
import type { Pace } from './given-world.ts'

export interface ServerDeps {
  readonly time: VirtualTime
  readonly keyspace: MemoryKeyspace
  readonly clock: Clock
  readonly ids: IdSource
  readonly random: Random
  readonly residency: ResidencyRules
  /** Registry hosts that images may come from. */
  readonly registries: ReadonlySet<string>
  readonly pace: Pace
  /** The setting `volumes.enabled`. */
  readonly volumesEnabled: boolean
  /** Whether the controller of networks runs. A script without networks does not need it. */
  readonly hasNetworks: boolean
  /** The wall clock of the host of a server, by the server's name. */
  wallOf(server: string): WallClock
  /** Asks the agent of a node what its copies of volumes use. */
  measure(nodeId: NodeId): readonly Measurement[] | 'unreachable'
  /** Sends a request of one server to another, which may be dead, paused or replaced. */
  post(from: SimulatedProcess, post: Post): Promise<PostAnswer>
  /** Receives each warning that a server logs. */
  onWarning(server: string, text: string): void
}

export type Operations = DeploymentDeps & NodeDeps & TenantDeps & VolumeDeps

export interface Server {
  readonly name: string
  readonly replica: string
  readonly process: SimulatedProcess
  readonly store: Store
  readonly gateway: Gateway
  readonly leadership: Leadership
  readonly operations: Operations
  /** Runs a request dry, on an overlay of the stored records, with the planner of the product. */
  readonly dryRuns: DryRuns
  readonly line: StoreLine
  /** Times at which the server's pauses and store faults end, in virtual milliseconds since the start of virtual time. */
  readonly ends: { pauses: number; troubles: number }
  /** Ends the connections of the server. Requests that the server already sent to the store are still applied. */
  disconnect(): void
}

export interface DryRuns {
  readonly run: RunDry
  operationsOn(store: Store): Operations
}

/** State of a server's connection to the store. */
export interface StoreLine {
  slowMs: number
  state: 'good' | 'cut' | 'flaky'
  /** Virtual time at which the state last changed. */
  since: number
}

const QUOTAS: QuotaDefaults = {
  nodes: 50,
  deployments: 200,
  containers: 500,
  volumes: 100,
  volume_bytes: 1024 ** 4,
  networks: 50,
  jobs_running: 50,
  secrets: 1000,
  backups: 100,
  tokens: 100,
  stored_bytes: 16 * 1024 ** 2,
}
/** The records that keep a deployment or a tenant from being removed. */
const MOVED: readonly string[] = [placements.folder, volumes.folder]
const REMOVALS_MS = 30_000
const ARCHIVED = 50

export async function startServer(deps: ServerDeps, name: string): Promise<Server> {
  const { time, clock, ids } = deps
  const process = newProcess(`server ${name}`, deps.wallOf(name))
  const line: StoreLine = { slowMs: 0, state: 'good', since: 0 }
  const memory = connectMemory(deps.keyspace, lineOf(deps.random, line))
  const engine = engineFor(time, process, memory)
  return time.runAs(process, async () => {
    const onUnreadable = (key: string, error: unknown): never => {
      throw new Error(`${key} cannot be read: ${String(error)}`)
    }
    const store = await openStore({ engine, clock, ids, onUnreadable })
    const replica = `srv_${ids.ulid()}`
    const operations = operationsOf(deps, store)
    const checkMs = deps.pace.sweepMs
    const detector = createFailureDetector({ store, self: replica, times: DEFAULT_TIMES, checkMs })
    const gateway = openGateway(deps, name, replica, store, detector, process)
    const leadership = startControllers(deps, { name, replica, store, operations, detector, gateway })
    return {
      name,
      replica,
      process,
      store,
      gateway,
      leadership,
      operations,
      dryRuns: dryRunsOf(deps),
      line,
      ends: { pauses: 0, troubles: 0 },
      disconnect: memory.close,
    }
  })
}

const NEAR_MS = 4

function lineOf(random: Random, line: StoreLine) {
  return {
    delayMs: () => line.slowMs + random.below(NEAR_MS),
    fault: (call: LineCall) => faultOf(random, line, call),
  }
}

function faultOf(random: Random, { state }: StoreLine, call: LineCall): LineFault {
  if (state === 'good') return 'none'
  if (state === 'cut') return random.below(2) === 0 ? 'refuse' : 'lose_request'
  if (call !== 'transact') return 'none'
  const drawn = random.below(10)
  return drawn < 3 ? 'lose_answer' : drawn < 4 ? 'refuse' : drawn < 5 ? 'lose_request' : 'none'
}

/** Stand-in for writes of secrets, always successful: a simulation has no secrets. */
const ok = async (): Promise<{ kind: 'ok' }> => ({ kind: 'ok' })
const away = async () => ({
  kind: 'unavailable' as const,
  cause: 'connection' as const,
  applied: 'no' as const,
})

function operationsOf(deps: ServerDeps, store: Store): Operations {
  const { clock, ids, residency, registries, volumesEnabled } = deps
  const slots = createSlotAllocator(store, (limit) => Math.floor(Math.random() * limit))
  const quotas = createQuotas(store, slots, QUOTAS, () => 0, clock)
  return {
    store,
    clock,
    ids,
    slots,
    quotas,
    residency,
    views: createReaderViews(store, quotas),
    archiveRevisions: ARCHIVED,
    answers: createIdempotentAnswers(store, clock, 24),
    broker: {
      checkImage: async (_tenant, image) => ({ kind: 'exists', digest: `sha256:${hash('sha256', image)}` }),
    },
    secrets: { provisionTenant: ok, destroyVersion: ok, currentVersion: away, writeVersion: away },
    admission: {
      limits: DEFAULT_LIMITS,
      reservedNames: new Set(RESERVED_NAMES),
      registries,
      volumesEnabled,
      namespaces: [],
      regions: new Set(Object.keys(residency.regions)),
    },
    limits: DEFAULT_LIMITS,
    measurements: createMeasurements(async (_tenant, nodeId) => deps.measure(nodeId), clock.now),
    callNode: async () => 'unreachable',
    readUsage: async () => ({ nodes: new Map(), unreachable: [] }),
    // No operator forces a promotion in a simulation; the controller has calls of its own.
    promotions: {
      askPromises: async () => 'unreachable',
      isSilent: async () => false,
      limits: { maxLagMs: 60_000, apartMs: 60_000 },
    },
    publicUrl: 'http://simulated',
  }
}

function dryRunsOf(deps: ServerDeps): DryRuns {
  const { clock, ids, residency } = deps
  const operationsOn = (store: Store) => operationsOf(deps, store)
  const quotasOn = (store: Store) => operationsOn(store).quotas
  return { operationsOn, run: createRunDry({ clock, ids, residency, archiveRevisions: ARCHIVED, quotasOn }) }
}

function openGateway(
  { clock, ids, pace, residency, post, onWarning }: ServerDeps,
  name: string,
  replica: string,
  store: Store,
  detector: FailureDetector,
  process: SimulatedProcess,
): Gateway {
  const unsealed = async () => ({ error: 'broker_unavailable' as const })
  return createGateway({
    store,
    clock,
    ids,
    replica,
    clusterKey: secret('simulated'),
    detector,
    log: { info: () => {}, warn: (facts, text) => onWarning(name, `${text} ${JSON.stringify(facts)}`) },
    broker: { sealEnvironment: unsealed, sealCredential: unsealed },
    residency,
    post: (request) => post(process, request),
    times: { sweepMs: pace.sweepMs },
  })
}

interface Placed {
  readonly name: string
  readonly replica: string
  readonly store: Store
  readonly operations: Operations
  readonly detector: FailureDetector
  readonly gateway: Gateway
}

/** The limits of the shipped configuration. */
const LIMITS = { maxLagMs: PROMOTION_TIMINGS.maxLagMs, apartMs: PROMOTION_TIMINGS.promotionsApartMs }

const promiseCalls = ({ askPromises, isSilent }: Gateway) => ({ askPromises, isSilent })

function startControllers(
  deps: ServerDeps,
  { name, replica, store, operations, detector, gateway }: Placed,
): Leadership {
  const { clock, residency } = deps
  const onError = (error: unknown): void => deps.onWarning(name, String(error))
  const { leadership: timings } = deps.pace
  const leadership = startLeadership({ store, clock, replica, url: `http://${name}`, timings, onError })
  startPlacing({
    store,
    clock,
    leadership,
    residency,
    quotas: operations.quotas,
    random: Math.random,
    onError: (error, deployment) => deps.onWarning(name, `${deployment}: ${String(error)}`),
  })
  driveScaling({
    ...{ store, clock, leadership, quotas: operations.quotas },
    readUsageOfAll: gateway.readUsageOfAll,
    nowMs: () => performance.now(),
    onError: (error, deployment) => deps.onWarning(name, `${deployment}: ${String(error)}`),
  })
  if (deps.volumesEnabled) {
    const onVolumeError = (error: unknown, volume: string) =>
      deps.onWarning(name, `${volume}: ${String(error)}`)
    const common = { store, clock, leadership, residency, onError: onVolumeError }
    driveVolumes({ ...common, random: Math.random })
    startPromotions({ ...common, promotions: { ...promiseCalls(gateway), limits: LIMITS } })
  }
  if (deps.hasNetworks) {
    const onNetworkError = (error: unknown, network: string) =>
      deps.onWarning(name, `${network}: ${String(error)}`)
    driveNetworks({ store, clock, leadership, random: Math.random, onError: onNetworkError })
  }
  const liveness = { detector, times: DEFAULT_TIMES, checkMs: deps.pace.silenceLookMs }
  startLivenessWatch({ store, clock, leadership, onError, ...liveness })
  const removing = repeat(
    REMOVALS_MS,
    () => finishRemovals({ store, clock, removeTenantSecrets: async () => true }),
    onError,
  )
  store.subscribe((changes) => {
    const asked = changes.some(({ kind, key }) => kind === 'put' && key.folder === removals.folder)
    const moved = changes.some(({ key }) => MOVED.includes(key.folder))
    if (asked || (moved && store.listWithIds(removals).length > 0)) removing.nudge()
  })
  return leadership
}
