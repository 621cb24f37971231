// The timeouts and intervals of a node's session. Tests use shorter ones. See docs/design/liveness.md#node-states

import { USAGE_STEP_MS } from '@holdfast/core/node'
import type { Config } from '../config/schema.ts'
import type { FailureTimes } from '../liveness/failure-detector.ts'

export interface GatewayTimes extends FailureTimes {
  /** Silence of a node's engine after which the node is degraded. */
  readonly engineSilentMs: number
  /** How long the gateway keeps its sessions without a fresh view of the store, while other server replicas have one. */
  readonly cutOffMs: number
  /** The sessions of a gateway that is cut off from the store end at random times within this time. */
  readonly cutOffSpreadMs: number
  /** The time between two questions to other server replicas whether they have a fresh view of the store. */
  readonly askOthersMs: number
  /** How long a socket may stay open without a hello. */
  readonly helloMs: number
  /** The minimum time between two sessions of one node, because each session may write events. */
  readonly reopenMs: number
  /** The time between two complete desired sets in one session. */
  readonly resyncMs: number
  /** The interval of the timer that checks all sessions. */
  readonly sweepMs: number
  /** The timeout of a call to a node or to another server replica. */
  readonly callMs: number
  /** The timeout of a call about promises. A controller asks again, so a late answer is of no use. */
  readonly promiseCallMs: number
  /** The time between two kept samples of usage. */
  readonly usageStepMs: number
  /** The usage of the last minute is the mean of this time. */
  readonly usageMeanMs: number
  /** A primary that sent nothing for this time may be replaced by a copy. */
  readonly silentMs: number
  /**
   * How long the routers of a tenant accept plain HTTP after the last of them has changed to mutual TLS, so that an update
   * of agents can be reverted without a failed request.
   */
  readonly plainPeersMs: number
}

export const DEFAULT_TIMES: GatewayTimes = {
  helloMs: 10_000,
  reopenMs: 1_000,
  heartbeatMs: 10_000,
  unreachableMs: 40_000,
  failedMs: 120_000,
  engineSilentMs: 30_000,
  massWindowMs: 60_000,
  massHoldMs: 600_000,
  awayMs: 15_000,
  cutOffMs: 20_000,
  cutOffSpreadMs: 5_000,
  askOthersMs: 2_000,
  resyncMs: 60_000,
  sweepMs: 250,
  callMs: 5_000,
  promiseCallMs: 3_000,
  usageStepMs: USAGE_STEP_MS,
  usageMeanMs: 60_000,
  silentMs: 12_000,
  plainPeersMs: 3_600_000,
}

/** A node whose last heartbeat is this many intervals old is silent. */
const LATE_HEARTBEATS = 1.2

/** The time that a request needs to pass over a dead member of etcd does not shrink with the heartbeat interval. */
const LEAST_CUT_OFF_MS = 4_000

/** The times from the configuration. The store counts as unavailable after 1.5 heartbeat intervals without an answer. */
export function gatewayTimes(config: Pick<Config, 'liveness' | 'scaling' | 'volumes'>): GatewayTimes {
  const { liveness, scaling, volumes } = config
  const { heartbeatSeconds, unreachableSeconds, failedSeconds, massWindowSeconds, massHoldSeconds } = liveness
  return {
    ...DEFAULT_TIMES,
    heartbeatMs: heartbeatSeconds * 1000,
    unreachableMs: unreachableSeconds * 1000,
    failedMs: failedSeconds * 1000,
    engineSilentMs: liveness.engineSilentSeconds * 1000,
    massWindowMs: massWindowSeconds * 1000,
    massHoldMs: massHoldSeconds * 1000,
    awayMs: heartbeatSeconds * 1500,
    cutOffMs: Math.max(heartbeatSeconds * 2000, LEAST_CUT_OFF_MS),
    cutOffSpreadMs: heartbeatSeconds * 500,
    askOthersMs: heartbeatSeconds * 200,
    usageMeanMs: scaling.meanSeconds * 1000,
    silentMs: 1000 * Math.max(volumes.promotion.silentSeconds, LATE_HEARTBEATS * heartbeatSeconds),
  }
}
