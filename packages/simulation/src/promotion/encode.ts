// Compact codes of messages and states. The code of a state has every value that can influence a later step.

import type { GroupRecord } from '@holdfast/core/promotion/group-record'
import type { Checkpoint, Message } from '@holdfast/core/promotion/messages'
import type { NodeState, World } from './world.ts'

const index = (node: string): number => node.charCodeAt(0) - 96
/** Stamps are at most 0 and end at -7, beyond every lease. */
const past = (ms: number): number => -ms
const KINDS = [
  'renew',
  'ack',
  'shrink',
  'grow',
  'configured',
  'prepare',
  'vote',
  'release',
  'cancel',
  'ship',
  'stored',
]

/** Numbers below 16 become one number. */
function pack(...digits: readonly number[]): number {
  let code = 0
  for (const digit of digits) code = code * 16 + digit
  return code
}

const packRecord = ({ epoch, primary, promotable, cv, handover }: GroupRecord): readonly number[] => [
  epoch,
  cv,
  index(primary),
  promotable.reduce((mask, node) => mask + 2 ** (index(node) - 1), 0),
  handover === undefined ? 0 : index(handover.to),
  handover?.cv ?? 0,
]

/** The kind comes first, so codes of different kinds differ. */
export function encodeMessage(message: Message): number {
  const kind = KINDS.indexOf(message.kind) + 1
  switch (message.kind) {
    case 'renew': {
      const { from, to, epoch, cv, sent, start } = message
      return pack(kind, index(from), index(to), epoch, cv, sent.boot, past(sent.ms), start ?? 0)
    }
    case 'ack': {
      const { from, to, epoch, sent, start } = message
      return pack(kind, index(from), index(to), epoch, sent.boot, past(sent.ms), start)
    }
    case 'configured':
      return pack(kind, index(message.to), ...packRecord(message.record))
    case 'prepare':
      return pack(kind, index(message.to), message.epoch, message.cv, message.force === undefined ? 0 : 1)
    case 'ship':
      return pack(kind, index(message.to), index(message.volume), ...packCheckpoint(message.checkpoint))
    case 'stored':
      return pack(kind, index(message.from), index(message.to), ...packCheckpoint(message.checkpoint))
    default:
      return encodeRequest(kind, message)
  }
}

const packCheckpoint = (checkpoint: Checkpoint | undefined): readonly number[] =>
  checkpoint === undefined ? [0, 0] : [checkpoint.epoch, checkpoint.number]

type Request = Extract<Message, { kind: 'shrink' | 'grow' | 'vote' | 'release' | 'cancel' }>

function encodeRequest(kind: number, message: Request): number {
  switch (message.kind) {
    case 'shrink':
      return pack(kind, index(message.from), message.epoch, index(message.node))
    case 'grow':
      return pack(kind, index(message.from), message.epoch, message.cv, index(message.node))
    case 'vote': {
      const { from, epoch, cv, cause, force } = message
      return pack(kind, index(from), epoch, cv, cause === 'expired' ? 0 : 1, force === undefined ? 0 : 1)
    }
    case 'release':
      return pack(kind, index(message.to), message.epoch, message.cv, message.final)
    case 'cancel':
      return pack(kind, index(message.from), message.epoch, message.cv)
  }
}

const WRITERS = { none: 0, queued: 1, running: 2 } as const
const buffer = new Uint8Array(256)
let length = 0

const put = (value: number): void => {
  buffer[length] = value
  length += 1
}

/** Encodes into a shared buffer, which is valid until the next call. */
export function encodeWorld({ nodes, record, network, budgets, acknowledged }: World): Uint8Array {
  length = 0
  for (const value of packRecord(record)) put(value)
  put(budgets.agentCrashes * 16 + budgets.machineCrashes)
  put(budgets.slowTicks * 16 + budgets.fastTicks)
  put(acknowledged)
  for (const node of nodes) putNode(node)
  for (const { code } of network) putCode(code)
  return buffer.subarray(0, length)
}

/** Codes of messages are below 2 ** 32. */
function putCode(code: number): void {
  for (let shift = 0; shift < 32; shift += 8) put((code >>> shift) & 255)
}

function putNode({ primary, copy, writer, fencer, boot, start }: NodeState): void {
  put(WRITERS[writer] * 2 + (fencer.fenced ? 1 : 0))
  put(boot * 16 + start)
  if (copy !== undefined) {
    const { durable, promisedUntilMs, lastAcked, bounded } = copy
    put(durable.epoch * 32 + durable.cv * 2 + (durable.prepared ? 1 : 0))
    put(promisedUntilMs * 2 + (bounded ? 1 : 0))
    put(lastAcked === undefined ? 255 : lastAcked.boot * 16 + past(lastAcked.ms))
    for (const held of durable.held) put(held === undefined ? 255 : held.epoch * 16 + held.number)
  }
  if (primary === undefined) return
  const { durable, lease, starts, stored } = primary
  put(128 + durable.epoch * 16 + durable.cv)
  put(durable.checkpoint)
  put(listCode(durable.configured) * 16 + listCode(durable.asked))
  const { handover } = durable
  put(handover === undefined ? 0 : handover.cv * 16 + index(handover.to) * 2 + (handover.abdicated ? 1 : 0))
  for (const name of primary.copies) {
    const acked = lease.get(name)
    put((acked === undefined ? 15 : past(acked)) * 16 + (starts.get(name) ?? 0))
    put(stored.get(name) ?? 0)
  }
}

const listCode = (nodes: readonly string[]): number => {
  let mask = 0
  for (const node of nodes) mask |= 1 << (index(node) - 1)
  return mask
}
