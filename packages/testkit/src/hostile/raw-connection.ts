// One TCP connection to the server that sends bytes unchanged and receives complete responses. fetch would correct
// invalid bytes.

import { connect, type Socket } from 'node:net'
import { parseAnswers, type RawAnswer } from './parse-answers.ts'

export interface Exchange {
  /** Complete responses. More than one means that the server sent a second response to one request. */
  readonly answers: readonly RawAnswer[]
  /** True if the server has closed the connection. */
  readonly closed: boolean
  /** True if the server neither responded nor closed the connection within the time limit. */
  readonly hung: boolean
  /** Received bytes that belong to no complete response. */
  readonly stray: string
}

interface ExchangeOptions {
  readonly timeoutMs?: number
  readonly bodiless?: boolean
  /** Number of responses to wait for; Infinity waits until the server closes the connection or the time limit passes. */
  readonly answers?: number
  /** If true, the client ends its side of the connection after the bytes. */
  readonly half?: boolean
}

export interface RawConnection {
  readonly open: boolean
  exchange(bytes: Uint8Array | string, options?: ExchangeOptions): Promise<Exchange>
  /** Sends more bytes while an exchange waits for its response. */
  write(bytes: string): void
  close(): void
}

const TIMEOUT_MS = 15_000

export function openRawConnection(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let open = true
  socket.on('error', () => {
    open = false
  })
  socket.on('close', () => {
    open = false
  })
  return {
    get open() {
      return open
    },
    async exchange(bytes, options = {}) {
      const result = await exchange(socket, () => open, bytes, options)
      // A response with `connection: close` announces that the server closes the connection, so it must not be reused.
      if (result.answers.some(({ headers }) => headers['connection'] === 'close')) open = false
      return result
    },
    write: (bytes) => {
      if (open) socket.write(bytes)
    },
    // Closing by reset leaves no port in TIME_WAIT; without it a hundred thousand connections would use up all ports.
    close: () => void socket.resetAndDestroy(),
  }
}

function exchange(
  socket: Socket,
  isOpen: () => boolean,
  bytes: Uint8Array | string,
  { timeoutMs = TIMEOUT_MS, bodiless = false, answers: wanted = 1, half = false }: ExchangeOptions,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const received: Buffer[] = []
    const settle = (closed: boolean) => {
      const { answers, rest } = parseAnswers(Buffer.concat(received), bodiless)
      if (!closed && answers.length < wanted) return false
      finish({ answers, closed, hung: false, stray: rest.toString('latin1') })
      return true
    }
    const onData = (chunk: Buffer) => {
      received.push(chunk)
      settle(false)
    }
    const onClose = () => void settle(true)
    const timer = setTimeout(() => {
      const { answers, rest } = parseAnswers(Buffer.concat(received), bodiless)
      finish({ answers, closed: false, hung: answers.length === 0, stray: rest.toString('latin1') })
    }, timeoutMs)
    const finish = (result: Exchange) => {
      clearTimeout(timer)
      socket.off('data', onData).off('close', onClose)
      resolve(result)
    }
    socket.on('data', onData).on('close', onClose)
    if (!isOpen() && socket.closed) return void settle(true)
    if (half) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** Sends the bytes on a new connection that is used for this exchange only. */
export async function exchangeAlone(
  port: number,
  bytes: Uint8Array | string,
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const connection = openRawConnection(port)
  try {
    return await connection.exchange(bytes, options)
  } finally {
    connection.close()
  }
}
