// Streams of bytes between server and agent: messages that open and end them, and the frames that carry the bytes.

import type { AssignmentId, VolumeId } from '../ids.ts'
import {
  boolean,
  branded,
  type Infer,
  integer,
  list,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

/** All data that the pool of a node keeps in quarantine of one epoch of a volume. */
export const keptEpochShape = object({ volume: branded<VolumeId>(), epoch: integer() })
export type KeptEpoch = Infer<typeof keptEpochShape>

/** `divergence` needs the capability `divergences`: an older agent would end the session. */
export const STREAM_KINDS = ['logs', 'exec', 'divergence'] as const
/** A request of the server to open a stream of bytes. The stream lasts until either side sends `end`. */
export const openShape = object({
  type: oneOf(['open']),
  /** Number of the stream. A session uses each number once. */
  stream: integer(),
  kind: oneOf(STREAM_KINDS),
  /** For log and exec streams: the container. */
  assignmentId: optional(branded<AssignmentId>()),
  /** For streams of quarantined data, which is sent as a tar archive. Exit code 0 at the end means that it is complete. */
  divergence: optional(keptEpochShape),
  /** For log streams: whether to send new lines as they are written. */
  follow: optional(boolean()),
  tail: optional(integer()),
  since: optional(string()),
  /**
   * For log streams: whether to send the kept lines of the last failed run of the assignment, whose container may be gone.
   * Needs the capability `kept_logs`: an older agent would send the current log.
   */
  previous: optional(boolean()),
  /** For exec streams: the command to run. */
  command: optional(list(string())),
  tty: optional(boolean()),
})
export type Open = Infer<typeof openShape>

/**
 * Allows the peer to send `bytes` more bytes of stream frames, headers included. A sender without credit must wait, so
 * a slow reader slows the source. Both sides start without credit.
 */
export const creditShape = object({ type: oneOf(['credit']), stream: integer(), bytes: integer() })
export const endShape = object({
  type: oneOf(['end']),
  stream: integer(),
  exitCode: optional(integer()),
  /** Why the stream failed: one of STREAM_ERRORS. */
  error: optional(string()),
})
export type End = Infer<typeof endShape>

/** Why a stream could not be opened, or why it ended early. */
export const STREAM_ERRORS = [
  'node_unreachable',
  'container_not_found',
  'container_not_running',
  'engine_unavailable',
  'too_many_streams',
  'data_not_found',
  'data_unreadable',
  'closed',
  'idle',
] as const
export type StreamError = (typeof STREAM_ERRORS)[number]

/** Length of the header of a binary frame: channel (1 byte) and stream number (4 bytes, big endian). */
export const STREAM_HEADER_BYTES = 5
/** The largest payload of a stream frame. It is small so that other messages never wait long behind a frame. */
export const STREAM_PAYLOAD_BYTES = 16 * 1024
/** Maximum number of streams that may be open on one node at the same time. */
export const STREAMS_PER_NODE = 32
/**
 * Channels of a stream frame. The exec subprotocol uses the first five too. An empty stdin frame ends the input.
 * `skipped` reports log lines that were dropped because the reader was too slow, as `{lines, bytes}`.
 */
export const STREAM_CHANNELS = { stdin: 0, stdout: 1, stderr: 2, resize: 3, exit: 4, skipped: 5 } as const
