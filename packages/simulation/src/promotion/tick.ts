// Time passes: every clock advances by one tick, except that a slow one stands still and a fast one counts two. The fencer
// is scheduled, so no writer survives the end of its lease.

import { runFencer } from '@holdfast/core/promotion/fencer'
import type { Message, Stamp } from '@holdfast/core/promotion/messages'
import { leaseEndMs } from '@holdfast/core/promotion/primary'
import { encodeMessage } from './encode.ts'
import { type InFlight, type NodeState, TICKS, type World } from './world.ts'

/** Older stamps are equal: every lease from them has ended. */
const OLDEST = -(TICKS.leaseMs + 1)

const shiftMs = (ms: number, by: number): number => Math.max(ms - by, OLDEST)

/** A stamp of an earlier boot is on a clock that no longer exists. */
const shiftStamp = (stamp: Stamp, by: number, boot: number): Stamp =>
  stamp.boot === boot ? { boot, ms: shiftMs(stamp.ms, by) } : stamp

/** The node on whose clock the stamp of a message is. */
const stampedBy = (message: Message): string | undefined => {
  if (message.kind === 'renew') return message.from
  return message.kind === 'ack' ? message.to : undefined
}

/** Advances the clock of each node by its number of ticks. */
export function tick(world: World, steps: readonly number[]): World {
  const stepsOf = (name: string): number => steps[world.nodes.findIndex((node) => node.name === name)] ?? 1
  const bootOf = (name: string): number => world.nodes.find((node) => node.name === name)?.boot ?? 0
  const nodes = world.nodes.map((node, at) =>
    runForced(tickStamps(tickNode(node, steps[at] ?? 1), world, steps)),
  )
  const network = world.network.map((each) => {
    const by = stampedBy(each.message)
    return by === undefined ? each : tickMessage(each, stepsOf(by), bootOf(by))
  })
  return { ...world, nodes, network: sortedUnique(network) }
}

function tickMessage(each: InFlight, by: number, boot: number): InFlight {
  const { message } = each
  if (message.kind !== 'renew' && message.kind !== 'ack') return each
  const shifted = { ...message, sent: shiftStamp(message.sent, by, boot) }
  return { code: encodeMessage(shifted), message: shifted }
}

/** Messages that differed only in the age of an old stamp may have become equal. */
export function sortedUnique(network: readonly InFlight[]): readonly InFlight[] {
  const sorted = network.toSorted((one, other) => one.code - other.code)
  return sorted.filter(({ code }, at) => at === 0 || sorted[at - 1]?.code !== code)
}

function tickNode(node: NodeState, by: number): NodeState {
  const { primary, copy } = node
  const lease = primary && new Map([...primary.lease].map(([name, ms]) => [name, shiftMs(ms, by)] as const))
  return {
    ...node,
    primary: primary && lease && { ...primary, lease },
    copy: copy && { ...copy, promisedUntilMs: Math.max(copy.promisedUntilMs - by, 0) },
  }
}

/** A copy keeps a stamp of its primary, which ages with the primary's clock. */
function tickStamps(node: NodeState, { nodes }: World, steps: readonly number[]): NodeState {
  const { copy } = node
  if (copy?.lastAcked === undefined) return node
  const at = nodes.findIndex(({ primary }) => primary?.durable.epoch === copy.durable.epoch)
  const lastAcked = shiftStamp(copy.lastAcked, steps[at] ?? 1, nodes[at]?.boot ?? 0)
  return { ...node, copy: { ...copy, lastAcked } }
}

function runForced(node: NodeState): NodeState {
  if (node.primary === undefined) return node
  const end = leaseEndMs(node.primary, TICKS)
  // Between the start of fencing and the end of the lease, the fencer may still be at work.
  return end <= 0 || end - TICKS.fenceMs > 0 ? fence(node) : node
}

/** Runs the fencer of a node once. A start that is queued in the engine is beyond its reach. */
export function fence(node: NodeState): NodeState {
  if (node.primary === undefined) return node
  const { state, kill } = runFencer(node.fencer, leaseEndMs(node.primary, TICKS), 0, TICKS)
  return { ...node, fencer: state, writer: kill && node.writer === 'running' ? 'none' : node.writer }
}
