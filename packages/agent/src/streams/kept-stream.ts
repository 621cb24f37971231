// Streams the kept lines of a container that ended. They are at most 1 MiB, so they are queued at once.

import { type Open, STREAM_CHANNELS } from '@holdfast/contract'
import type { KeptLogs } from './kept-logs.ts'
import type { Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

export async function openKeptStream(
  keptLogs: Pick<KeptLogs, 'read'>,
  { assignmentId, since, tail }: Open,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): Promise<NodeStream> {
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const kept = assignmentId === undefined ? [] : await keptLogs.read(assignmentId)
  const wanted = kept.filter(({ line }) => Date.parse(line.slice(0, line.indexOf(' '))) >= sinceMs)
  for (const { channel, line } of tail === undefined ? wanted : wanted.slice(-tail))
    outgoing.push(STREAM_CHANNELS[channel], Buffer.from(line))
  onEnd({})
  return { onRoom() {}, input() {}, close() {} }
}
