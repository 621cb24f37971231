import type { Result } from '@holdfast/client'
import { expect, test } from 'vitest'
import { type ExecState, openExec, type Socket } from './exec-session.ts'

type Issued = Result<{ readonly id: string; readonly ticket: string }>
const ISSUED: Issued = { ok: true, value: { id: 'exec_1', ticket: 't' } }

class FakeSocket extends EventTarget implements Socket {
  binaryType: BinaryType = 'blob'
  readyState: 0 | 1 | 2 | 3 = 0
  readonly sent: number[][] = []
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
  }
  send(bytes: Parameters<Socket['send']>[0]): void {
    if (bytes instanceof Uint8Array) this.sent.push([...bytes])
  }
  close(): void {
    this.readyState = 3
    this.dispatchEvent(new Event('close'))
  }
  open(): void {
    this.readyState = 1
    this.dispatchEvent(new Event('open'))
  }
  receive(channel: number, text: string): void {
    const data = Uint8Array.from([channel, ...new TextEncoder().encode(text)]).buffer
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

async function connect(issued: Issued = ISSUED) {
  const sockets: FakeSocket[] = []
  const states: ExecState['kind'][] = []
  const output: string[] = []
  let last: ExecState = { kind: 'opening' }
  const session = openExec(
    {
      client: { execUrl: ({ id }) => `ws://h/${id}`, deployments: { exec: async () => issued } },
      openSocket(url) {
        const socket = new FakeSocket(url)
        sockets.push(socket)
        return socket
      },
    },
    { name: 'shop', command: ['sh'] },
    {
      onState(state) {
        last = state
        states.push(state.kind)
      },
      onOutput: (bytes) => output.push(new TextDecoder().decode(bytes)),
    },
  )
  await new Promise((resolve) => setTimeout(resolve))
  return { session, socket: sockets[0], states, output, last: () => last }
}

test('bytes pass both ways, and the size is sent as soon as the socket is open', async () => {
  const { session, socket, states, output } = await connect()
  session.resize({ cols: 80, rows: 24 })
  expect(socket?.sent).toEqual([])
  socket?.open()
  expect(new TextDecoder().decode(Uint8Array.from(socket?.sent[0]?.slice(1) ?? []))).toBe(
    '{"cols":80,"rows":24}',
  )
  session.send(new Uint8Array([65]))
  expect(socket?.sent[1]).toEqual([0, 65])
  socket?.receive(1, 'hello')
  socket?.receive(9, 'of a newer server')
  expect([states, output]).toEqual([['opening', 'open'], ['hello']])
})

test('a long paste is sent in messages that the server accepts', async () => {
  const { session, socket } = await connect()
  socket?.open()
  session.send(new Uint8Array(40_000))
  expect(socket?.sent.map(({ length }) => length)).toEqual([16_385, 16_385, 7_233])
})

test.each([
  ['{"exitCode":3}', { kind: 'exited', code: 3 }],
  ['{"error":"node_unreachable"}', { kind: 'broken', reason: 'node_unreachable' }],
])('the end %s is reported once, before the socket closes', async (text, end) => {
  const { socket, states, last } = await connect()
  socket?.open()
  socket?.receive(4, text)
  expect(last()).toEqual(end)
  expect(states).toHaveLength(3)
  expect(socket?.readyState).toBe(3)
})

test('a socket that closes without an end was lost', async () => {
  const { socket, states } = await connect()
  socket?.open()
  socket?.close()
  expect(states).toEqual(['opening', 'open', 'lost'])
})

test('a refused ticket opens no socket', async () => {
  const { socket, states } = await connect({ ok: false, failure: { kind: 'interrupted' } })
  expect(socket).toBeUndefined()
  expect(states).toEqual(['opening', 'refused'])
})

test('closing ends the session once', async () => {
  const { session, socket, states } = await connect()
  socket?.open()
  session.close()
  session.close()
  expect([states, socket?.readyState]).toEqual([['opening', 'open', 'closed'], 3])
})
