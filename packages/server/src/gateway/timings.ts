// The timeouts and intervals of a session. Tests use shorter ones. See docs/design/liveness.md#node-states

import type { Config } from '../config/schema.ts'
import type { FailureTimes } from '../liveness/failure-detector.ts'

export interface GatewayTimes extends FailureTimes {
  /** How long a socket may stand open without a hello. */
  readonly helloMs: number
  /** From one session of a node to the next that it may open: each may write events. */
  readonly reopenMs: number
  /** Between two complete sets of one session. */
  readonly resyncMs: number
  /** One timer for all sessions looks at them so often. */
  readonly sweepMs: number
  /** How long the other side of a call may take. */
  readonly callMs: number
}

export const DEFAULT_TIMES: GatewayTimes = {
  helloMs: 10_000,
  reopenMs: 1_000,
  heartbeatMs: 10_000,
  unreachableMs: 40_000,
  failedMs: 120_000,
  massWindowMs: 60_000,
  massHoldMs: 600_000,
  awayMs: 15_000,
  resyncMs: 60_000,
  sweepMs: 250,
  callMs: 5_000,
}

/** As the configuration has them; the store counts as away after one and a half beats without an answer of it. */
export function gatewayTimes({ liveness }: Pick<Config, 'liveness'>): GatewayTimes {
  const { heartbeatSeconds, unreachableSeconds, failedSeconds, massWindowSeconds, massHoldSeconds } = liveness
  return {
    ...DEFAULT_TIMES,
    heartbeatMs: heartbeatSeconds * 1000,
    unreachableMs: unreachableSeconds * 1000,
    failedMs: failedSeconds * 1000,
    massWindowMs: massWindowSeconds * 1000,
    massHoldMs: massHoldSeconds * 1000,
    awayMs: heartbeatSeconds * 1500,
  }
}
