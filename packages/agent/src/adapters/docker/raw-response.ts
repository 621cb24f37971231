// Reads the response to a GET request into one reused buffer, because the body may be endless and fast. At tens of
// megabytes per second a new buffer per read would exhaust memory before garbage collection.

import { connect, type Socket } from 'node:net'
import { EngineError, type EngineStream } from '../../ports/engine.ts'
import { classifyError } from './classify-error.ts'

const BUFFER_BYTES = 64 * 1024
const MAX_HEAD_BYTES = 16 * 1024
const MAX_REASON = 300
const HEAD_END = Buffer.from('\r\n\r\n')

export interface BodySink {
  /** Receives bytes of the body. The buffer is a view that is valid only during the call. */
  data(bytes: Buffer): void
  /** Called once at the end of the response; `complete` is false if the connection broke before the end of the body. */
  end(complete: boolean): void
}

export interface RawRequest {
  readonly socketPath: string
  readonly path: string
  /** Timeout until the head of the response has arrived. */
  readonly deadlineMs: number
}

export function openRawResponse(request: RawRequest, sink: BodySink): Promise<EngineStream> {
  return new Promise((resolve, reject) => {
    let read = readHead
    let held: Buffer = Buffer.alloc(0)
    let paused = false
    let ended = false
    const fail = (error: unknown): void => {
      clearTimeout(timeout)
      ended = true
      socket.destroy()
      reject(classifyError(error))
    }
    const finish = (complete: boolean): void => {
      if (!ended) sink.end(complete)
      ended = true
      socket.destroy()
    }
    const stream: EngineStream = {
      pause() {
        paused = true
        socket.pause()
      },
      resume() {
        paused = false
        socket.resume()
      },
      close() {
        ended = true
        socket.destroy()
      },
    }
    function readHead(bytes: Buffer): void {
      held = Buffer.concat([held, bytes])
      const end = held.indexOf(HEAD_END)
      if (end < 0 && held.length > MAX_HEAD_BYTES) fail(new Error('The answer has no head.'))
      if (end < 0) return
      const head = held.toString('latin1', 0, end)
      const body = held.subarray(end + HEAD_END.length)
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
      if (status !== 200 || !/\r\ntransfer-encoding: chunked(?:\r\n|$)/i.test(head)) {
        const message = body.toString('utf8', 0, MAX_REASON)
        fail(Object.assign(new Error(message), { statusCode: status === 200 ? 500 : status }))
        return
      }
      clearTimeout(timeout)
      read = createChunks(sink.data, () => finish(true))
      resolve(stream)
      if (body.length > 0) read(body)
    }
    const socket = dial(request, (bytes) => {
      if (!ended) read(bytes)
      return !paused
    })
    const timeout = setTimeout(
      () => fail(new EngineError('timeout', `The engine did not answer within ${request.deadlineMs} ms.`)),
      request.deadlineMs,
    )
    socket.on('error', (error) => (read === readHead ? fail(error) : finish(false)))
    socket.on('close', () => (read === readHead ? fail(new Error('The engine hung up.')) : finish(false)))
  })
}

function dial({ socketPath, path }: RawRequest, onBytes: (bytes: Buffer) => boolean): Socket {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  const callback = (count: number): boolean => onBytes(buffer.subarray(0, count))
  const socket = connect({ path: socketPath, onread: { buffer, callback } })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n`)
  return socket
}

const LINE_FEED = 0x0a

/** Decodes chunked transfer encoding: a hexadecimal length on a line, the bytes, a line end. The last chunk is empty. */
export function createChunks(data: (bytes: Buffer) => void, end: () => void): (bytes: Buffer) => void {
  let line = ''
  let left = 0
  /** True after the bytes of a chunk. The line end that follows a chunk is read like an empty line. */
  let afterChunk = false
  const readLine = (bytes: Buffer, from: number): number => {
    const at = bytes.indexOf(LINE_FEED, from)
    line += bytes.toString('latin1', from, at < 0 ? bytes.length : at)
    if (at < 0) return bytes.length
    if (afterChunk) afterChunk = false
    else {
      left = Number.parseInt(line, 16)
      afterChunk = true
      if (!(left > 0)) end()
    }
    line = ''
    return at + 1
  }
  return (bytes) => {
    let at = 0
    while (at < bytes.length) {
      if (left > 0) {
        const taken = Math.min(left, bytes.length - at)
        left -= taken
        data(bytes.subarray(at, at + taken))
        at += taken
      } else at = readLine(bytes, at)
    }
  }
}
