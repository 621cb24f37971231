// Messages between two agents, and how they are read. Ids have a grammar and checkpoints are small whole numbers, so no
// text of another node ever becomes part of a path unchecked.

import {
  branded,
  checkpointShape,
  decodeOpen,
  type Infer,
  integer,
  isVolumeId,
  list,
  object,
  oneOf,
  optional,
  type Shape,
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
const MAX_NUMBER = 999_999_999_999_999
const SHA256 = /^[0-9a-f]{64}$/

const confirmedShape = object({
  volume: branded<VolumeId>(),
  epoch: integer(),
  /** The newest checkpoint, if the volume has not changed since. */
  unchanged: optional(checkpointShape),
})
export type ConfirmItem = Infer<typeof confirmedShape>

/**
 * A request of the primary. `confirm` asks which checkpoints the replica has and says which volumes have not changed.
 * `copy` offers one checkpoint; its bytes and a trailer follow after the answer `ready`.
 */
const requestShape = object({
  request: oneOf(['confirm', 'copy']),
  volumes: optional(list(confirmedShape)),
  volume: optional(branded<VolumeId>()),
  checkpoint: optional(checkpointShape),
  base: optional(checkpointShape),
})

export interface CopyRequest {
  readonly request: 'copy'
  readonly volume: VolumeId
  readonly checkpoint: VolumeCheckpoint
  readonly base?: VolumeCheckpoint
}
export type PeerRequest =
  | CopyRequest
  | { readonly request: 'confirm'; readonly volumes: readonly ConfirmItem[] }

const answerShape = object({
  answer: oneOf(['confirmed', 'ready', 'held', 'stored', 'refused']),
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
})
export type Answer = Infer<typeof answerShape>

const trailerShape = object({ bytes: integer(), sha256: string() })

export function readRequest(text: string): PeerRequest {
  const { request, volumes, volume, checkpoint, base } = parse(requestShape, text)
  if (request === 'confirm') {
    if (volumes === undefined || volumes.length > CONFIRM_VOLUMES) throw malformed('volumes')
    for (const item of volumes) requireItem(item)
    return { request, volumes }
  }
  if (volume === undefined || !isVolumeId(volume)) throw malformed('volume')
  if (checkpoint === undefined || !isCheckpoint(checkpoint)) throw malformed('checkpoint')
  if (base !== undefined && !isCheckpoint(base)) throw malformed('base')
  return { request, volume, checkpoint, ...(base && { base }) }
}

export function readAnswer(text: string): Answer {
  const answer = parse(answerShape, text)
  for (const { volume, held = [] } of answer.volumes ?? [])
    if (!isVolumeId(volume) || held.length > MAX_HELD || !held.every(isCheckpoint)) throw malformed('volumes')
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
