// Follows the names of changed records, so that a reader keeps what it shows up to date without polling.

import { type ChangedRecord, changesShape, decodeOpen } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { followMessages, type StreamNotice } from './follow-messages.ts'

export type ChangeStreamItem =
  | StreamNotice
  /** The connection is open; from now on changes arrive as they happen. */
  | { readonly kind: 'live' }
  /** Some changes were missed: everything that was read before must be read again. */
  | { readonly kind: 'resync' }
  /** A sign of life without a change: what was read is still current. */
  | { readonly kind: 'current' }
  | { readonly kind: 'changes'; readonly items: readonly ChangedRecord[] }

export interface FollowChangesOptions {
  /** The id of the last known message of the stream; absent: the stream starts now. */
  readonly after?: string
  readonly signal?: AbortSignal
}

export async function* followChanges(
  connection: Connection,
  { after, signal }: FollowChangesOptions = {},
): AsyncGenerator<ChangeStreamItem, void, void> {
  const stream = { path: '/changes/stream', query: {}, after, signal }
  for await (const item of followMessages(connection, stream)) {
    if (item.kind === 'opened') yield { kind: 'live' }
    else if (item.kind === 'message') yield changeOf(item.message)
    else yield item
  }
}

function changeOf({ type, data }: { readonly type: string; readonly data?: string }): ChangeStreamItem {
  if (type === 'resync') return { kind: 'resync' }
  if (type !== 'changes' || data === undefined) return { kind: 'current' }
  return { kind: 'changes', items: decodeOpen(changesShape, JSON.parse(data)).items }
}
