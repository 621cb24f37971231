// Messages between two agents, and how they are read. Ids have a grammar and checkpoints are small whole numbers, so no
// text of another node ever becomes part of a path unchecked.

import {
  boolean,
  branded,
  checkpointShape,
  decodeOpen,
  defined,
  type Infer,
  integer,
  isVolumeId,
  list,
  object,
  oneOf,
  optional,
  type Shape,
  stampShape,
  string,
  type VolumeCheckpoint,
  type VolumeId,
} from '@holdfast/contract'
import type { StreamDigest } from '../ports/volume-pool.ts'
import { PeerError } from './peer-error.ts'

/** The name of the protocol in the TLS handshake; a protocol that older agents do not understand gets another one. */
export const PEER_PROTOCOL = 'holdfast-peer/1'

/** Most volumes in one `confirm`; with the longest ids and numbers they fit into a header. */
export const CONFIRM_VOLUMES = 200
/** Most checkpoints of a volume that an answer lists, the newest first. */
export const MAX_HELD = 8
/** Most volumes in the set of a `renew`; with the longest numbers they fit into a frame. */
export const RENEW_VOLUMES = 10_000
const MAX_NUMBER = 999_999_999_999_999
const SHA256 = /^[0-9a-f]{64}$/
const SET_NAME = /^[A-Za-z0-9_-]{22}$/

export type PeerStamp = Infer<typeof stampShape>

const renewedShape = object({ volume: branded<VolumeId>(), epoch: integer(), cv: integer() })
/** A volume for which the primary asks for a promise. */
export type RenewItem = Infer<typeof renewedShape>

const confirmedShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  /** The newest checkpoint, if the volume has not changed since. */
  unchanged: optional(checkpointShape),
})
export type ConfirmItem = Infer<typeof confirmedShape>

/**
 * A request of the primary. `confirm` asks which checkpoints the replica has and says which volumes have not changed.
 * `copy` offers one checkpoint; its bytes and a trailer follow after the answer `ready`. `renew` asks for promises, and can be
 * repeated on one connection.
 */
const requestShape = object({
  request: oneOf(['confirm', 'copy', 'renew']),
  volumes: optional(list(confirmedShape)),
  /** For `confirm`: a replica that has the newest checkpoint of an unchanged volume has everything written before. */
  at: optional(stampShape),
  volume: optional(branded<VolumeId>()),
  checkpoint: optional(checkpointShape),
  base: optional(checkpointShape),
  /** For `copy`: when the checkpoint was taken, on the clock of the primary. */
  takenAt: optional(stampShape),
  /** For `renew`: the clock of the primary before it was sent. */
  sent: optional(stampShape),
  /** The newest start of the receiver that the primary knows. */
  start: optional(integer()),
  /** Length of the lease in milliseconds. */
  lease: optional(integer()),
  /** The name of the set of volumes, which follows in a frame of its own if `isFull`. */
  set: optional(string()),
  isFull: optional(boolean()),
})

export interface CopyRequest {
  readonly request: 'copy'
  readonly volume: VolumeId
  readonly checkpoint: VolumeCheckpoint
  readonly base?: VolumeCheckpoint
  readonly takenAt?: PeerStamp
}
export interface ConfirmRequest {
  readonly request: 'confirm'
  readonly volumes: readonly ConfirmItem[]
  readonly at?: PeerStamp
}
export interface RenewRequest {
  readonly request: 'renew'
  readonly sent: PeerStamp
  readonly start?: number
  readonly lease: number
  readonly set: string
  readonly isFull?: boolean
}
export type PeerRequest = CopyRequest | ConfirmRequest | RenewRequest

const answerShape = object({
  answer: oneOf(['confirmed', 'ready', 'held', 'stored', 'refused', 'renewed', 'unknown_set']),
  /** Why the request was refused: one word. */
  reason: optional(string()),
  volumes: optional(
    list(
      object({
        volume: branded<VolumeId>(),
        held: optional(list(checkpointShape)),
        reason: optional(string()),
      }),
    ),
  ),
  /** For `renewed`: the number of this start of the agent, and the positions in the set that are not acknowledged. */
  start: optional(integer()),
  refused: optional(list(integer())),
})
export type Answer = Infer<typeof answerShape>

const trailerShape = object({ bytes: integer(), sha256: string() })

export function readRequest(text: string): PeerRequest {
  const message = parse(requestShape, text)
  if (message.request === 'renew') return readRenew(message)
  return message.request === 'confirm' ? readConfirm(message) : readCopy(message)
}

type Message = Infer<typeof requestShape>

function readConfirm({ volumes, at }: Message): ConfirmRequest {
  if (volumes === undefined || volumes.length > CONFIRM_VOLUMES) throw malformed('volumes')
  for (const item of volumes) requireItem(item)
  return { request: 'confirm', volumes, ...defined({ at: readStamp(at) }) }
}

function readCopy({ volume, checkpoint, base, takenAt }: Message): CopyRequest {
  if (volume === undefined || !isVolumeId(volume)) throw malformed('volume')
  if (checkpoint === undefined || !isCheckpoint(checkpoint)) throw malformed('checkpoint')
  if (base !== undefined && !isCheckpoint(base)) throw malformed('base')
  return { request: 'copy', volume, checkpoint, ...defined({ base, takenAt: readStamp(takenAt) }) }
}

function readRenew({ sent, start, lease, set, isFull }: Message): RenewRequest {
  const stamp = readStamp(sent)
  if (stamp === undefined) throw malformed('sent')
  if (start !== undefined && !isCount(start)) throw malformed('start')
  if (lease === undefined || !isCount(lease)) throw malformed('lease')
  if (set === undefined || !SET_NAME.test(set)) throw malformed('set')
  return { request: 'renew', sent: stamp, lease, set, ...defined({ start, isFull }) }
}

function readStamp(stamp: PeerStamp | undefined): PeerStamp | undefined {
  if (stamp !== undefined && !(isCount(stamp.boot) && isCount(stamp.ms))) throw malformed('stamp')
  return stamp
}

/** Reads the volumes of a `renew`. */
export function readRenewSet(text: string): readonly RenewItem[] {
  const items = parse(list(renewedShape), text)
  if (items.length > RENEW_VOLUMES) throw malformed('set')
  for (const { volume, epoch, cv } of items)
    if (!isVolumeId(volume) || !isCount(epoch) || !isCount(cv)) throw malformed('set')
  return items
}

export function readAnswer(text: string): Answer {
  const answer = parse(answerShape, text)
  for (const { volume, held = [] } of answer.volumes ?? [])
    if (!isVolumeId(volume) || held.length > MAX_HELD || !held.every(isCheckpoint)) throw malformed('volumes')
  const { start = 0, refused = [] } = answer
  if (!isCount(start) || refused.length > RENEW_VOLUMES || !refused.every(isCount))
    throw malformed('positions')
  return answer
}

export function readTrailer(text: string): StreamDigest {
  const { bytes, sha256 } = parse(trailerShape, text)
  if (bytes < 0 || !SHA256.test(sha256)) throw malformed('trailer')
  return { bytes, sha256 }
}

function requireItem({ volume, epoch, unchanged }: ConfirmItem): void {
  const isValid = isVolumeId(volume) && isCheckpoint({ epoch, number: 0 })
  if (!isValid || (unchanged !== undefined && !isCheckpoint(unchanged))) throw malformed('volumes')
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0 && value <= MAX_NUMBER
const isCheckpoint = ({ epoch, number }: VolumeCheckpoint): boolean => isCount(epoch) && isCount(number)

function parse<T>(shape: Shape<T>, text: string): T {
  try {
    return decodeOpen(shape, JSON.parse(text))
  } catch (error) {
    throw new PeerError(
      'malformed',
      `A message is malformed: ${error instanceof Error ? error.message : error}`,
    )
  }
}

const malformed = (what: string): PeerError => new PeerError('malformed', `A message has no valid ${what}.`)
