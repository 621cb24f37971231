// How long things may take in a session. DECISIONS 5 (Node) and SAFETY 4e; tests give shorter ones.

export interface GatewayTimes {
  /** How long a socket may stand open without a hello. */
  readonly helloMs: number
  /** From one session of a node to the next that it may open: each may write events. */
  readonly reopenMs: number
  readonly beatMs: number
  /** Silence after which the node is called unreachable, and failed. */
  readonly unreachableMs: number
  readonly failedMs: number
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
  beatMs: 10_000,
  unreachableMs: 40_000,
  failedMs: 120_000,
  resyncMs: 60_000,
  sweepMs: 250,
  callMs: 5_000,
}
