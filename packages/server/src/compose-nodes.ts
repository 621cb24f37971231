// What faces the nodes: leadership over shards, the controllers that place, and the gateway that agents dial into.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { InternalCall } from './api/internal-calls.ts'
import type { Config } from './config/schema.ts'
import { readClusterCa } from './connect-engines.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { gatewayTimes } from './gateway/timings.ts'
import { startPlacing } from './loops/controllers/place-deployments.ts'
import { startSilenceWatch } from './loops/controllers/watch-silent-nodes.ts'
import { startDigestFixing } from './loops/fix-digests.ts'
import { type Leadership, startLeadership } from './loops/leadership/lead-shards.ts'
import type { TakeUpgrade } from './net/upgrade.ts'
import type { CallNode } from './operations/nodes/deps.ts'
import type { Quotas } from './operations/quotas.ts'
import type { Broker } from './ports/broker.ts'
import type { OpenNodeStream } from './ports/node-streams.ts'
import type { RegistryCredential } from './ports/registry.ts'
import { secret } from './ports/secret.ts'
import { realClock as clock, realIds as ids } from './real-world.ts'
import { registryCredentials } from './store/records.ts'
import type { Store } from './store/store.ts'
import { inTenant } from './store/transaction.ts'

const SILENCE_LOOK_MS = 1_000

export interface NodeSideDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly broker: Broker
  readonly quotas: Quotas
}

export interface NodeSide {
  readonly callNode: CallNode
  readonly internalCall: InternalCall
  /** Many nodes fell silent at once and none is given up for now, for the metrics; said by who leads. */
  holdsSilentNodes(): boolean
  readonly openStream: OpenNodeStream
  readonly takeUpgrade: TakeUpgrade
  closeSessions(): void
  stop(): Promise<void>
}

export function startNodeSide(deps: NodeSideDeps): NodeSide {
  const { roles } = deps.config
  const replica = `srv_${ids.ulid()}`
  const gateway = openGateway(deps, replica)
  const leads = roles.includes('controllers')
  // A replica that only holds sessions sends its heartbeat, so that the others find it, and works for no shard.
  const beats = leads || roles.includes('gateway') || deps.config.nodeName !== undefined
  const leadership = beats ? lead(deps, replica, leads) : undefined
  const controllers = leadership && leads ? startControllers(deps, leadership, replica) : undefined
  return {
    callNode: (tenant, nodeId) => askContainers(gateway, tenant, nodeId),
    internalCall: gateway.internalCallHandler,
    openStream: gateway.openStream,
    takeUpgrade: (...upgrade) => roles.includes('gateway') && gateway.takeUpgrade(...upgrade),
    holdsSilentNodes: () => controllers?.holdsSilentNodes() === true,
    closeSessions: gateway.close,
    async stop() {
      await controllers?.stop()
      await leadership?.stop()
    },
  }
}

function lead({ config, log, store }: NodeSideDeps, replica: string, leads: boolean): Leadership {
  const { nodeName } = config
  return startLeadership({
    ...{ store, clock, replica, leads, url: config.cluster?.url ?? config.publicUrl },
    ...(nodeName === undefined ? {} : { nodeName }),
    onError: (error) => log.warn({ error: String(error) }, 'leadership stumbled and goes on'),
  })
}

function startControllers(deps: NodeSideDeps, leadership: Leadership, self: string) {
  const { config, log, store, quotas, broker } = deps
  const placing = startPlacing({
    ...{ store, clock, leadership, quotas, random: Math.random },
    onError: (error, deployment) =>
      log.warn({ deployment, error: String(error) }, 'a deployment was not reconciled and is tried again'),
  })
  const silence = startSilenceWatch({
    ...{ store, clock, leadership, self, times: gatewayTimes(config), lookMs: SILENCE_LOOK_MS },
    onError: (error) => log.warn({ error: String(error) }, 'nodes that nobody holds were not judged'),
  })
  const digests = startDigestFixing({
    ...{ store, clock, leadership, broker, random: Math.random },
    onError: (error, image) => log.warn({ image, error: String(error) }, 'an image was not asked for again'),
  })
  return {
    holdsSilentNodes: () => silence.holding,
    async stop() {
      await Promise.all([silence.stop(), digests.stop(), placing.stop()])
    },
  }
}

/** Without a cluster's key no other replica can prove that it is one, and none is listened to. */
function openGateway({ config, log, store, broker }: NodeSideDeps, replica: string): Gateway {
  const clusterKey = config.cluster?.key ?? secret(Buffer.from(ids.bytes(32)).toString('base64'))
  const clusterCa = readClusterCa(config)
  return createGateway({
    ...{ store, clock, ids, replica, clusterKey, log, times: gatewayTimes(config) },
    ...(clusterCa === undefined ? {} : { clusterCa }),
    registryCredential: (tenant, host) => readCredential(store, broker, tenant, host),
  })
}

async function readCredential(
  store: Store,
  broker: Broker,
  tenant: TenantId,
  host: string,
): Promise<RegistryCredential | undefined> {
  const kept = store.get(inTenant(tenant, registryCredentials, host))?.record
  return kept === undefined ? undefined : broker.readCredential(tenant, host, kept.version)
}

async function askContainers(gateway: Gateway, tenant: TenantId, nodeId: NodeId): ReturnType<CallNode> {
  const answer = await gateway.callNode(tenant, nodeId, 'containers')
  return answer.kind === 'answered' ? (answer.containers ?? []) : 'unreachable'
}
