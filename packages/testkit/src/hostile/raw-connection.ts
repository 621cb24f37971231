// One TCP connection to the server that sends bytes unchanged and receives complete responses. fetch would correct the bytes.

import { connect, type Socket } from 'node:net'
import { parseAnswers, type RawAnswer } from './parse-answers.ts'

export interface Exchange {
  /** More than one means a second response to one request. */
  readonly answers: readonly RawAnswer[]
  /** The server has closed the connection. */
  readonly closed: boolean
  /** Neither a response nor a close within the time limit. */
  readonly hung: boolean
  /** Received bytes that are no complete response. */
  readonly stray: string
}

interface ExchangeOptions {
  readonly timeoutMs?: number
  readonly bodiless?: boolean
  /** Number of responses that end the wait; infinite: until the server closes or the time is up. */
  readonly answers?: number
  /** Ends the client's side after the bytes. */
  readonly half?: boolean
}

export interface RawConnection {
  readonly open: boolean
  exchange(bytes: Uint8Array | string, options?: ExchangeOptions): Promise<Exchange>
  /** Sends more bytes while an exchange waits. */
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
      // The server has announced that it will close the connection.
      if (result.answers.some(({ headers }) => headers['connection'] === 'close')) open = false
      return result
    },
    write: (bytes) => {
      if (open) socket.write(bytes)
    },
    // A reset leaves no port in TIME_WAIT; a hundred thousand connections would run out of ports.
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

/** Uses a new connection for this exchange only. */
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
