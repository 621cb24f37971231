// One state of the search: nodes, stored record and network. Every clock shows 0; a tick moves all stamps into the past
// instead, so that states which differ only in time are one state (docs/design/promotion.md#search).

import { type CopyState, startCopy } from '@holdfast/core/promotion/copy'
import type { FencerState } from '@holdfast/core/promotion/fencer'
import type { GroupRecord } from '@holdfast/core/promotion/group-record'
import type { Checkpoint, Message, Stamp } from '@holdfast/core/promotion/messages'
import { type PrimaryState, startPrimary } from '@holdfast/core/promotion/primary'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'

/** The bounds of one search. */
export interface Scenario {
  readonly name: string
  readonly nodes: readonly string[]
  readonly volumes: readonly string[]
  /** Messages in flight at the same time. */
  readonly messages: number
  readonly maxCv: number
  readonly maxEpoch: number
  readonly maxCheckpoint: number
  /** Restarts of an agent, and of a machine. */
  readonly agentCrashes: number
  readonly machineCrashes: number
  /** Ticks that one clock misses, and ticks that one clock counts twice. */
  readonly slowTicks: number
  readonly fastTicks: number
  /** Requests of operators. */
  readonly handover: boolean
  readonly force: boolean
}

/** In ticks. A promise that loses a tick still covers a lease that gains one. */
export const TICKS: PromotionTimings = {
  renewEveryMs: 1,
  leaseMs: 2,
  promiseMs: 4,
  fenceMs: 1,
  shrinkAfterMs: 0,
  silentAfterMs: 0,
  promotionsApartMs: 0,
  maxLagMs: 0,
  drift: 0,
}

export type Writer = 'none' | 'queued' | 'running'

export interface NodeState {
  readonly name: string
  /** A node is the primary or a copy. */
  readonly primary: PrimaryState | undefined
  readonly copy: CopyState | undefined
  readonly writer: Writer
  readonly fencer: FencerState
  readonly boot: number
  readonly start: number
}

/** Budgets that are left. */
export interface Budgets {
  readonly agentCrashes: number
  readonly machineCrashes: number
  readonly slowTicks: number
  readonly fastTicks: number
}

export interface InFlight {
  /** Two messages with the same code are the same message. */
  readonly code: number
  readonly message: Message
}

export interface World {
  readonly nodes: readonly NodeState[]
  readonly record: GroupRecord
  /** Sorted by code. */
  readonly network: readonly InFlight[]
  readonly budgets: Budgets
  /** Number of the newest checkpoint that every promotable node of some moment had acknowledged. */
  readonly acknowledged: number
}

export const NOT_FENCED: FencerState = { fenced: false }

/** The search compares moments of the last write directly, so checkpoints carry no time. */
export const NO_TIME: Stamp = { boot: 0, ms: 0 }

export const firstWorld = ({ nodes, volumes, ...limits }: Scenario): World => {
  const [primary = '', ...copies] = nodes
  const first: NodeState = {
    name: primary,
    primary: firstPrimary(primary, copies),
    copy: undefined,
    writer: 'running',
    fencer: NOT_FENCED,
    boot: 1,
    start: 1,
  }
  const { agentCrashes, machineCrashes, slowTicks, fastTicks } = limits
  return {
    nodes: [first, ...copies.map((name) => firstCopy(name, volumes))],
    record: { epoch: 1, primary, promotable: copies, cv: 1, handover: undefined },
    network: [],
    budgets: { agentCrashes, machineCrashes, slowTicks, fastTicks },
    acknowledged: 1,
  }
}

function firstPrimary(node: string, copies: readonly string[]): PrimaryState {
  const durable = { epoch: 1, cv: 1, configured: copies, asked: [], handover: undefined, checkpoint: 1 }
  const lease = new Map(copies.map((name) => [name, 0] as const))
  const started = startPrimary({ node, copies, durable, boot: 1, file: { boot: 1, lease } })
  const ones = new Map(copies.map((name) => [name, 1] as const))
  return { ...started, starts: ones, stored: ones }
}

function firstCopy(name: string, volumes: readonly string[]): NodeState {
  const checkpoint: Checkpoint = { epoch: 1, number: 1, takenAt: NO_TIME }
  const durable = { epoch: 1, cv: 1, prepared: false, held: volumes.map(() => checkpoint) }
  const copy = startCopy({ node: name, volumes, durable, start: 1 }, 0, TICKS)
  const promised = { ...copy, lastAcked: { boot: 1, ms: 0 }, bounded: true }
  return {
    name,
    primary: undefined,
    copy: promised,
    writer: 'none',
    fencer: NOT_FENCED,
    boot: 1,
    start: 1,
  }
}

export const withNode = (world: World, at: number, changes: Partial<NodeState>): World => {
  const node = world.nodes[at]
  return node === undefined ? world : { ...world, nodes: world.nodes.with(at, { ...node, ...changes }) }
}
