// Composes the parts that manage nodes: leadership over shards, the placement controllers, and the gateway for agents.

import { defined, type NodeId, type TenantId } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { InternalCall } from './api/internal-calls.ts'
import type { Config } from './config/schema.ts'
import { readClusterCa } from './connect-engines.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { gatewayTimes } from './gateway/timings.ts'
import { createFailureDetector, type FailureDetector, logHolds } from './liveness/failure-detector.ts'
import { LIVENESS_CHECK_MS, startLivenessWatch } from './liveness/watch-silent-nodes.ts'
import { driveNetworks } from './loops/controllers/networks/drive-networks.ts'
import { startPlacing } from './loops/controllers/place-deployments.ts'
import {
  driveScaling,
  type ScalingController,
  type ScalingControllerDeps,
} from './loops/controllers/scaling/drive-scaling.ts'
import { driveVolumes } from './loops/controllers/volumes/drive-volumes.ts'
import { startPromotions } from './loops/controllers/volumes/promote-volumes.ts'
import { startDigestFixing } from './loops/fix-digests.ts'
import type { HeartbeatChain } from './loops/leadership/heartbeat-chain.ts'
import { createHeartbeatWatch } from './loops/leadership/heartbeat-watch.ts'
import { LEADERSHIP_TIMINGS, type Leadership, startLeadership } from './loops/leadership/lead-shards.ts'
import { migrateRecords } from './loops/migrate-records.ts'
import { repeat } from './loops/repeat.ts'
import { startRotations } from './loops/rotations.ts'
import { MIGRATIONS } from './migrations/migrations.ts'
import type { HandleUpgrade } from './net/upgrade.ts'
import type { CallNode } from './operations/nodes/deps.ts'
import type { HoldTimes } from './operations/platform/read-platform.ts'
import type { CallMeasure } from './operations/volumes/measure-volumes.ts'
import type { PromotionPort } from './operations/volumes/promotion/promotion-port.ts'
import type { Broker } from './ports/broker.ts'
import type { DivergenceCalls } from './ports/divergence-calls.ts'
import type { OpenNodeStream } from './ports/node-streams.ts'
import type { Secret } from './ports/secret.ts'
import type { ReadUsage } from './ports/usage.ts'
import type { Quotas } from './quotas/quotas.ts'
import { serverReplicas } from './store/records.ts'
import type { Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface NodeSideDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly broker: Broker
  readonly quotas: Quotas
  /** The shared key by which server replicas authenticate each other. */
  readonly clusterKey: Secret
  readonly chain: HeartbeatChain
  /** PEM texts of the roots to which the listener will change. */
  readonly nextAuthorities: () => readonly string[]
}

export interface NodeSide {
  readonly callNode: CallNode
  readonly callMeasure: CallMeasure
  readonly promotions: PromotionPort
  readonly divergences: DivergenceCalls
  readonly internalCall: InternalCall
  /** Whether this process sees a mass-failure hold; always false in a process without the role controllers. */
  holdsSilentNodes(): boolean
  /** Whether this process does not reach the store while others do, and therefore accepts no agents. */
  isCutOff(): boolean
  /** Number of agents that are connected to this process. */
  sessions(): number
  /** Number of decisions of scaling policies, by reason; none in a process without the role controllers. */
  scalingDecisions(): ReadonlyMap<string, number>
  /** When the session of a node was last heard, in milliseconds since 1970; undefined if another server holds it. */
  heardAt(nodeId: NodeId): number | undefined
  /** The id of this server replica. */
  readonly replica: string
  /** Whether the heartbeat of a server replica has changed recently. */
  isAlive(replica: string): boolean
  /** The mass-failure hold as this process sees it. */
  readonly hold: HoldTimes
  readonly openStream: OpenNodeStream
  readonly readUsage: ReadUsage
  readonly handleUpgrade: HandleUpgrade
  /** Closes the sessions of all agents, each at a random time within `spreadMs`. */
  closeSessions(spreadMs: number): Promise<void>
  stop(): Promise<void>
}

export function startNodeSide(deps: NodeSideDeps): NodeSide {
  const { roles } = deps.config
  const replica = `srv_${ids.ulid()}`
  const hold: MutableHold = { since: undefined, nodes: 0 }
  const detector = openFailureDetector(deps, replica, hold)
  const heartbeats = watchHeartbeats(deps.store)
  const gateway = openGateway(deps, replica, detector)
  const leads = roles.includes('controllers')
  // A server replica without the role controllers leads no shard. Its heartbeats show where it is and what it reads.
  const leadership = lead(deps, replica, leads)
  const callMeasure = askMeasurements(gateway)
  const promotions = promotionPort(deps.config, gateway)
  const controllers = leads
    ? startControllers(deps, { leadership, detector, callMeasure, promotions, gateway })
    : undefined
  return {
    callNode: (tenant, nodeId) => askContainers(gateway, tenant, nodeId),
    callMeasure,
    promotions,
    divergences: divergenceCalls(gateway),
    internalCall: gateway.internalCallHandler,
    heardAt(nodeId) {
      const heard = gateway.heardAt(nodeId)
      return heard === undefined ? undefined : clock.now() - Math.max(0, performance.now() - heard)
    },
    replica,
    isAlive: heartbeats.isAlive,
    hold,
    openStream: gateway.openStream,
    readUsage: gateway.readUsage,
    handleUpgrade: (...upgrade) => roles.includes('gateway') && gateway.handleUpgrade(...upgrade),
    scalingDecisions: () => controllers?.scalingDecisions ?? new Map(),
    isCutOff: () => gateway.isCutOff,
    sessions: () => gateway.sessions,
    holdsSilentNodes: () => controllers !== undefined && detector.holding,
    closeSessions: gateway.close,
    async stop() {
      await controllers?.stop()
      await leadership.stop()
      heartbeats.stop()
      detector.stop()
    },
  }
}

function lead({ config, log, store, chain }: NodeSideDeps, replica: string, leads: boolean): Leadership {
  const { nodeName, roles } = config
  return startLeadership({
    store,
    clock,
    replica,
    leads,
    chain,
    url: config.cluster?.url ?? config.publicUrl,
    brokers: roles.includes('broker'),
    ...(nodeName === undefined ? {} : { nodeName }),
    onFormatRaised: ({ writes, by }) =>
      log.info({ writes, by }, 'record form raised, servers older than `by` can no longer start'),
    onError: (error) => log.warn({ error: String(error) }, 'leadership loop failed, retrying'),
  })
}

/** Creates the one failure detector of this process, which the gateway and the check of node liveness share. */
function openFailureDetector(
  { config, log, store }: NodeSideDeps,
  self: string,
  hold: MutableHold,
): FailureDetector {
  const times = gatewayTimes(config)
  const logHold = logHolds(log)
  const onHold: typeof logHold = (begins, facts) => {
    hold.since = begins ? clock.now() : undefined
    hold.nodes = begins ? facts.silent : 0
    logHold(begins, facts)
  }
  return createFailureDetector({ store, self, times, checkMs: times.sweepMs, onHold })
}

type MutableHold = { -readonly [member in keyof HoldTimes]: HoldTimes[member] }

/** Notes when the heartbeat of each server replica last changed, also in a process that leads no shard. */
function watchHeartbeats(store: Store) {
  const watch = createHeartbeatWatch(LEADERSHIP_TIMINGS.silentMs)
  const observe = (): void => watch.observe(store.listWithIds(serverReplicas), performance.now())
  observe()
  const stop = store.subscribe((changes) => {
    if (changes.some(({ key }) => key.folder === serverReplicas.folder)) observe()
  })
  return { stop, isAlive: (replica: string) => !watch.isStale(replica, performance.now()) }
}

interface ControllerParts {
  readonly leadership: Leadership
  readonly detector: FailureDetector
  readonly callMeasure: CallMeasure
  readonly promotions: PromotionPort
  readonly gateway: Pick<Gateway, 'readUsageOfAll'>
}

function startControllers(
  deps: NodeSideDeps,
  { leadership, detector, callMeasure, promotions, gateway }: ControllerParts,
) {
  const { config, log, store, quotas, broker } = deps
  const placing = startPlacing({
    store,
    clock,
    leadership,
    quotas,
    residency: config.residency,
    random: Math.random,
    onError: (error, workKey) =>
      log.warn({ workKey, error: String(error) }, 'reconciliation failed, retrying'),
  })
  const silence = startLivenessWatch({
    store,
    clock,
    leadership,
    detector,
    times: gatewayTimes(config),
    checkMs: LIVENESS_CHECK_MS,
    onError: (error) => log.warn({ error: String(error) }, 'liveness check of disconnected nodes failed'),
  })
  const digests = startDigestFixing({
    store,
    clock,
    leadership,
    broker,
    random: Math.random,
    onError: (error, image) => log.warn({ image, error: String(error) }, 'image digest check failed'),
  })
  const rotations = startRotations({
    store,
    clock,
    leadership,
    callMeasure,
    archiveRevisions: config.retention.archiveRevisions,
    onError: (error, credential) =>
      log.warn({ credential, error: String(error) }, 'rotation step failed, retrying'),
  })
  const driving = driveVolumes({
    store,
    clock,
    leadership,
    residency: config.residency,
    random: Math.random,
    onError: (error, workKey) =>
      log.warn({ workKey, error: String(error) }, 'reconciliation of a volume failed, retrying'),
  })
  const connecting = driveNetworks({
    store,
    clock,
    leadership,
    random: Math.random,
    onError: (error, workKey) =>
      log.warn({ workKey, error: String(error) }, 'reconciliation of a network failed, retrying'),
  })
  const [scaling, migrating] = [startScaling(deps, { leadership, gateway }), migrate(deps, leadership)]
  const promoting = startPromotions({
    store,
    clock,
    leadership,
    residency: config.residency,
    promotions,
    onError: (error, workKey) => log.warn({ workKey, error: String(error) }, 'promotion failed, retrying'),
  })
  const all = [promoting, scaling, connecting, driving, silence, digests, rotations, placing, migrating]
  return {
    scalingDecisions: scaling.decisions,
    stop: async () => void (await Promise.all(all.map((controller) => controller.stop()))),
  }
}

const MIGRATE_MS = 30_000
const migrate = ({ log, store }: NodeSideDeps, leadership: Leadership) =>
  repeat(
    MIGRATE_MS,
    async () => {
      const count = await migrateRecords({ store, leadership, migrations: MIGRATIONS })
      if (count > 0) log.info({ count }, 'records rewritten in a newer form')
    },
    (error) => log.warn({ error: String(error) }, 'migration of records failed, retrying'),
  )

function startScaling(
  { config, log, store, quotas }: NodeSideDeps,
  { leadership, gateway }: Pick<ControllerParts, 'leadership' | 'gateway'>,
): ScalingController {
  const deps: ScalingControllerDeps = {
    store,
    clock,
    leadership,
    quotas,
    readUsageOfAll: gateway.readUsageOfAll,
    nowMs: () => performance.now(),
    onError: (error, deployment) =>
      log.warn({ deployment, error: String(error) }, 'scaling round failed, retrying'),
  }
  return driveScaling(deps, config.scaling.roundSeconds * 1000)
}

function openGateway(
  { config, log, store, broker, clusterKey, nextAuthorities }: NodeSideDeps,
  replica: string,
  detector: FailureDetector,
): Gateway {
  return createGateway({
    store,
    clock,
    ids,
    replica,
    clusterKey,
    log,
    broker,
    detector,
    nextAuthorities,
    residency: config.residency,
    acceptsAgents: config.roles.includes('gateway'),
    times: gatewayTimes(config),
    ...defined({ clusterCa: readClusterCa(config) }),
  })
}

function promotionPort({ volumes: { promotion } }: Config, gateway: Gateway): PromotionPort {
  const limits = { maxLagMs: promotion.maxLagSeconds * 1000, apartMs: promotion.apartSeconds * 1000 }
  return { askPromises: gateway.askPromises, isSilent: gateway.isSilent, limits }
}

const divergenceCalls = ({ openStream, callNode }: Gateway): DivergenceCalls => ({
  openStream,
  async deleteKept(tenant, nodeId, divergence) {
    const { deleted } = await callNode(tenant, nodeId, 'delete_divergence', { divergence })
    if (deleted === undefined) return 'unconfirmed'
    return deleted ? 'deleted' : 'absent'
  },
})

async function askContainers(gateway: Gateway, tenant: TenantId, nodeId: NodeId): ReturnType<CallNode> {
  const answer = await gateway.callNode(tenant, nodeId, 'containers')
  return answer.kind === 'answered' ? (answer.containers ?? []) : 'unreachable'
}

const askMeasurements =
  (gateway: Gateway): CallMeasure =>
  async (tenant, nodeId, method) =>
    (await gateway.callNode(tenant, nodeId, method)).measurements ?? 'unreachable'
