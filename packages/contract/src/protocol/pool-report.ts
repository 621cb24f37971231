// The pool of a node in the agent protocol: what the agent offers of it, and what the server decides about it.
// See docs/design/endings.md#offers

import { storageShape } from '../api/node.ts'
import { COPY_ROLES } from '../api/volume.ts'
import type { VolumeId } from '../ids.ts'
import { branded, type Infer, integer, list, object, oneOf, optional, string } from '../shapes/shape.ts'
import { checkpointShape } from './volume-copies.ts'

/** A copy of a volume that a pool holds, desired or not. */
export const offeredCopyShape = object({
  volume: branded<VolumeId>(),
  /** The epoch of the live data; without live data, the highest epoch that the node knows. */
  epoch: integer(),
  /** `primary`: complete live data that was not handed over. */
  role: oneOf(COPY_ROLES),
  /** The newest complete checkpoint; absent if there is none. */
  checkpoint: optional(checkpointShape),
})
export type OfferedCopy = Infer<typeof offeredCopyShape>

/** Data that a node keeps although it must not be used: read-only, never mounted. */
export const quarantinedCopyShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  /** Absent while the pool counts its usage again. */
  usedBytes: optional(integer()),
  since: string(),
})
export type QuarantinedCopy = Infer<typeof quarantinedCopyShape>

/** The most copies, and the most quarantined copies, in one report. */
export const MAX_OFFERS = 1000

/** The pool of a node and all that it holds. Sent after the first complete set of a session, and after each change. */
export const poolReportShape = object({
  storage: storageShape,
  /** The tenant of the data in the pool, if it is not the tenant of the node; nothing of it is offered. */
  foreign: optional(string()),
  /** The last order by which all data of the pool was deleted. */
  wiped: optional(string()),
  /** Absent while the pool cannot be read, which is not the same as empty. */
  copies: optional(list(offeredCopyShape)),
  quarantined: optional(list(quarantinedCopyShape)),
})
export type PoolReport = Infer<typeof poolReportShape>

/** The server's decision about an offered copy that is not among the desired copies. Offers without a decision are kept. */
export const offerDecisionShape = object({
  volume: branded<VolumeId>(),
  /** The epoch of the offer. A copy that has another one now is kept. */
  epoch: integer(),
  action: oneOf(['quarantine', 'delete']),
})
export type OfferDecision = Infer<typeof offerDecisionShape>

/** The order to delete all data of a pool. The agent confirms it by its id (`wiped`). */
export const poolWipeShape = object({
  poolId: string(),
  id: string(),
  /** `released`: the tenant gives the machine up. `foreign`: the pool may have data of another tenant. */
  reason: oneOf(['released', 'foreign']),
})
export type PoolWipe = Infer<typeof poolWipeShape>
