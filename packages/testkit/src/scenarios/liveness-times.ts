// Heartbeat interval and time limits for failed nodes: the defaults in the long run, a tenth of the defaults otherwise.

import { LONG } from '../long-run.ts'

const SHIPPED = {
  heartbeatSeconds: 10,
  unreachableSeconds: 40,
  failedSeconds: 120,
  massWindowSeconds: 60,
  massHoldSeconds: 600,
}
const SHORT = {
  heartbeatSeconds: 1,
  unreachableSeconds: 4,
  failedSeconds: 12,
  massWindowSeconds: 6,
  massHoldSeconds: 60,
}

export type LivenessTimes = typeof SHIPPED
export const TIMES: LivenessTimes = LONG ? SHIPPED : SHORT
