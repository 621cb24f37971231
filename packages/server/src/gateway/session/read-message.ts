// Decodes a message of an agent. An invalid message yields undefined and ends the session. Unknown members from a newer
// agent are kept, up to a bound, and an unknown message type yields 'unknown'.

import {
  type AgentMessage,
  agentMessageShapes,
  CALL_METHODS,
  type DiskUse,
  decodeOpen,
  type Hello,
  isVolumeId,
  MAX_AUTHORITIES,
  MAX_OFFERS,
  type PoolReport,
  unknownLength,
} from '@holdfast/contract'
import type { RawData } from 'ws'
import { isValidRound, isValidUsage } from '../usage/check-usage.ts'

export function readAgentMessage(data: RawData): AgentMessage | 'unknown' | undefined {
  if (!Buffer.isBuffer(data)) return undefined
  try {
    return decodeMessage(JSON.parse(data.toString('utf8')))
  } catch {
    return undefined
  }
}

function decodeMessage(value: unknown): AgentMessage | 'unknown' | undefined {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string') return undefined
  const shape = Object.hasOwn(agentMessageShapes, type) ? agentMessageShapes[type] : undefined
  if (shape === undefined) return 'unknown'
  const message = decodeOpen(shape, value) as AgentMessage
  return isValid(message) && keepsLittle(message) ? message : undefined
}

/** Checks the length and characters of texts that will be stored. The message schemas check types only. */
function isValid(message: AgentMessage): boolean {
  if (message.type === 'hello') return isValidHello(message)
  if (message.type === 'call') return CALL_METHODS.includes(message.method) && isShort(message.id)
  if (message.type === 'status') return isValidStatus(message)
  if (message.type === 'heartbeat')
    return isValidHealth(message) && (message.usage === undefined || isValidRound(message.usage))
  if (message.type === 'usage') return isValidUsage(message)
  if (message.type === 'credit') return Number.isSafeInteger(message.bytes) && message.bytes >= 0
  return true
}

const isValidHealth = ({ engine, hold = '' }: Extract<AgentMessage, { type: 'heartbeat' }>): boolean =>
  isShort(hold) &&
  (engine === undefined ||
    [engine.silentMs, engine.steadyMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0))

const isValidStatus = ({ pool, disks, authorities }: Extract<AgentMessage, { type: 'status' }>): boolean =>
  (pool === undefined || isValidPool(pool)) &&
  areValidPins(authorities) &&
  (disks === undefined ||
    [disks.engine, ...(disks.pool === undefined ? [] : [disks.pool])].every(isValidDisk))

const PIN = /^sha256:[0-9a-f]{64}$/
const areValidPins = (pins: readonly string[] = []): boolean =>
  pins.length <= MAX_AUTHORITIES && pins.every((pin) => PIN.test(pin))

const isValidDisk = ({ totalBytes, freeBytes, inodes, freeInodes }: DiskUse): boolean =>
  [totalBytes, freeBytes, inodes, freeInodes].every((number) => Number.isSafeInteger(number) && number >= 0)

/** Longest unknown members of a hello and of one observation, in characters, because both are stored. */
const MAX_UNKNOWN = 4096

/** Other messages are not stored. A list of containers, with a new member in each, may exceed the limit. */
function keepsLittle(message: AgentMessage): boolean {
  const stored =
    message.type === 'status'
      ? [...message.observations, ...[message.pool, message.disks].filter((part) => part !== undefined)]
      : message.type === 'hello'
        ? [message]
        : []
  return stored.every((part) => unknownLength(part) <= MAX_UNKNOWN)
}

const MAX_LABELS = 64
const MAX_CAPABILITIES = 64
const MAX_TEXT = 256

function isValidHello(hello: Hello): boolean {
  const { generation, bootId, version, capabilities = [], labels, engine, capacity, storage } = hello
  const texts = [
    bootId,
    version,
    engine.version,
    engine.apiVersion,
    ...capabilities,
    storage?.poolId ?? '',
    storage?.fault ?? '',
  ]
  const pool = storage === undefined ? [] : [storage.poolBytes, storage.usedBytes]
  const numbers = [generation, capacity.cpuMillis, capacity.memoryBytes, ...pool]
  return (
    texts.every(isShort) &&
    areValidPins(hello.authorities) &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0) &&
    Object.keys(labels).length <= MAX_LABELS &&
    capabilities.length <= MAX_CAPABILITIES
  )
}

function isValidPool({
  storage,
  foreign = '',
  wiped = '',
  copies = [],
  quarantined = [],
}: PoolReport): boolean {
  const held = [...copies, ...quarantined]
  const numbers = [
    storage.poolBytes,
    storage.usedBytes,
    ...held.map(({ epoch }) => epoch),
    ...quarantined.map(({ usedBytes = 0 }) => usedBytes),
  ]
  const texts = [
    storage.poolId ?? '',
    storage.fault ?? '',
    foreign,
    wiped,
    ...quarantined.map(({ since }) => since),
  ]
  return (
    copies.length <= MAX_OFFERS &&
    quarantined.length <= MAX_OFFERS &&
    held.every(({ volume }) => isVolumeId(volume)) &&
    texts.every(isShort) &&
    quarantined.every(({ since }) => TIME.test(since) && !Number.isNaN(Date.parse(since))) &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
  )
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
const PRINTABLE = /^[\x20-\x7e]*$/
const isShort = (text: string): boolean => text.length <= MAX_TEXT && PRINTABLE.test(text)
