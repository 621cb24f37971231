// One watch stream to one etcd member over its own connection, until the stream ends. watch.ts opens the next stream.

import type { Client, Metadata, ServiceError } from '@grpc/grpc-js'
import type { KeyRange } from '../../ports/key-value.ts'
import { decodeWatchMessage, type WatchMessage } from './codec/decode-watch.ts'
import { encodeWatchCreateRequest, encodeWatchProgressRequest } from './codec/encode-requests.ts'

export interface WatchStreamRequest {
  readonly client: Client
  readonly metadata: Metadata
  readonly range: KeyRange
  readonly startRevision: number
  onMessage(message: WatchMessage): void
  /** Called once when the stream ends, but never after `close`. */
  onEnd(reason: string): void
}

export interface WatchStream {
  /** NOTE call only after the `created` message. Before that, etcd's answer may overtake events that are not sent yet. */
  requestProgress(): void
  close(): void
}

const same = (bytes: Buffer) => bytes

export function openWatchStream(request: WatchStreamRequest): WatchStream {
  const stream = request.client.makeBidiStreamRequest<Buffer, WatchMessage>(
    '/etcdserverpb.Watch/Watch',
    same,
    decodeWatchMessage,
    request.metadata,
  )
  let open = true
  const shut = () => {
    open = false
    stream.cancel()
    request.client.close()
  }
  const end = (reason: string) => {
    if (!open) return
    shut()
    request.onEnd(reason)
  }
  stream.on('data', (message: WatchMessage) => open && request.onMessage(message))
  stream.on('error', (error: ServiceError) => end(error.details || error.message))
  stream.on('end', () => end('the member ended the stream'))
  stream.write(encodeWatchCreateRequest(request.range, request.startRevision))
  return {
    requestProgress: () => open && stream.write(encodeWatchProgressRequest()),
    close: () => open && shut(),
  }
}
