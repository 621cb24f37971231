// Clients of the peer port that keep no rule: they send any bytes over TCP or TLS, all at once or slowly, and return
// everything that they received.

import { createHash } from 'node:crypto'
import { connect as connectTcp, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { peerTls } from '../../peer/dial.ts'

export const frame = (kind: number, payload: string | Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt8(kind, 0)
  head.writeUInt32BE(Buffer.byteLength(payload), 1)
  return Buffer.concat([head, Buffer.from(payload)])
}
export const header = (request: object): Buffer => frame(1, JSON.stringify(request))

const DATA_BYTES = 256 * 1024
/** The bytes of a stream and a trailer with their digest; `digest` replaces members of the trailer. */
export function streamed(bytes: Buffer, digest: object = {}): Buffer {
  const pieces = Array.from({ length: Math.ceil(bytes.length / DATA_BYTES) }, (_, at) =>
    frame(2, bytes.subarray(at * DATA_BYTES, (at + 1) * DATA_BYTES)),
  )
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return Buffer.concat([...pieces, frame(3, JSON.stringify({ bytes: bytes.length, sha256, ...digest }))])
}

export interface Speech {
  readonly host?: string
  readonly port: number
  readonly bytes: Buffer
  /** Undefined for plain TCP. */
  readonly tls?: ConnectionOptions
  /** Sends this many bytes per second instead of all at once. */
  readonly bytesPerSecond?: number
  /** Ends its side after the bytes. */
  readonly isEnded?: boolean
  /** An address of this machine, because connections are limited by address. */
  readonly from?: string
}

export const asPeer = peerTls

/** The listener closes a connection long before that. */
const PATIENCE_MS = 30_000

/** Sends bytes and returns everything that was received up to an answer, or until the listener closed the connection. */
export function speak({
  host = '127.0.0.1',
  port,
  bytes,
  tls,
  bytesPerSecond,
  isEnded,
  from,
}: Speech): Promise<Buffer> {
  const at = { host, port, ...(from !== undefined && { localAddress: from }) }
  return new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const socket: Socket = tls === undefined ? connectTcp(at) : connect({ ...tls, ...at })
    const late = setTimeout(() => {
      reject(new Error('the listener kept the connection open'))
      socket.destroy()
    }, PATIENCE_MS)
    let drip: NodeJS.Timeout | undefined
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk)
      if (/"(?:refused|held|confirmed|stored)"/.test(Buffer.concat(received).toString('latin1')))
        socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(late)
      clearInterval(drip)
      resolve(Buffer.concat(received))
    })
    socket.on(tls === undefined ? 'connect' : 'secureConnect', () => {
      if (bytesPerSecond !== undefined) drip = dripInto(socket, bytes, bytesPerSecond)
      else socket.write(bytes)
      if (isEnded === true) socket.end()
    })
  })
}

const DRIP_MS = 500

function dripInto(socket: Socket, bytes: Buffer, bytesPerSecond: number): NodeJS.Timeout {
  let at = 0
  return setInterval(() => {
    const next = bytes.subarray(at, at + Math.ceil((bytesPerSecond * DRIP_MS) / 1000))
    at += next.length
    if (next.length > 0) socket.write(next)
  }, DRIP_MS)
}
