// The messages between primary, copies and controller. Each may be lost, delayed, duplicated and reordered.

import type { GroupRecord } from './group-record.ts'

/** A time on the clock of one boot of a machine. Boots are numbered, because each restarts the clock. */
export interface Stamp {
  readonly boot: number
  readonly ms: number
}

/** A crash-consistent state of all volumes of a group. Numbers continue across epochs. */
export interface Checkpoint {
  readonly epoch: number
  readonly number: number
  /** Time on the primary's clock when the writers were frozen for it. */
  readonly takenAt: Stamp
}

/** The primary asks a copy not to vote for a while. */
export interface Renew {
  readonly kind: 'renew'
  readonly from: string
  readonly to: string
  readonly epoch: number
  readonly cv: number
  readonly sent: Stamp
  /** The newest start of the copy's agent that the primary knows. */
  readonly start: number | undefined
}

export interface RenewAck {
  readonly kind: 'ack'
  readonly from: string
  readonly to: string
  readonly epoch: number
  /** The stamp of the renewal that is acknowledged. */
  readonly sent: Stamp
  readonly start: number
}

/** The primary asks the controller to drop a silent node from the promotable ones. */
export interface Shrink {
  readonly kind: 'shrink'
  readonly from: string
  readonly epoch: number
  readonly node: string
}

export interface Grow {
  readonly kind: 'grow'
  readonly from: string
  readonly epoch: number
  readonly cv: number
  readonly node: string
}

/** The stored record, as answer to a request or to a linearizable read. */
export interface Configured {
  readonly kind: 'configured'
  readonly to: string
  readonly record: GroupRecord
}

/** The waivers of an operator who forces a promotion. */
export interface Force {
  /** The operator's word that the primary does not write. Needed for a node that is not promotable. */
  readonly primaryIsDead: boolean
}

export interface Prepare {
  readonly kind: 'prepare'
  readonly to: string
  readonly epoch: number
  readonly cv: number
  readonly force: Force | undefined
}

export interface Vote {
  readonly kind: 'vote'
  readonly from: string
  readonly epoch: number
  readonly cv: number
  /** `expired`: the promise is over. `released`: the primary abdicated in favor of this node. */
  readonly cause: 'expired' | 'released'
  readonly held: Checkpoint | undefined
  /** The last moment at which the primary can have written, on its clock. Undefined if the copy cannot bound it. */
  readonly lastWriteBy: Stamp | undefined
  readonly force: Force | undefined
}

/** The primary has abdicated; the copy may vote at once. */
export interface Release {
  readonly kind: 'release'
  readonly to: string
  readonly epoch: number
  readonly cv: number
  readonly final: number
}

export interface CancelHandover {
  readonly kind: 'cancel'
  readonly from: string
  readonly epoch: number
  readonly cv: number
}

/** The bytes of one volume of a checkpoint. */
export interface Ship {
  readonly kind: 'ship'
  readonly from: string
  readonly to: string
  readonly volume: string
  readonly checkpoint: Checkpoint
}

/** The copy holds every volume of the checkpoint, synced to its disk. */
export interface Stored {
  readonly kind: 'stored'
  readonly from: string
  readonly to: string
  readonly checkpoint: Checkpoint
}

export type Message =
  | Renew
  | RenewAck
  | Shrink
  | Grow
  | Configured
  | Prepare
  | Vote
  | Release
  | CancelHandover
  | Ship
  | Stored

/** The new state of an actor and its messages. The durable part is synced to disk before a message leaves. */
export interface Step<S> {
  readonly state: S
  readonly send: readonly Message[]
}

export const isNewer = (one: Checkpoint, other: Checkpoint): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.number > other.number)
