import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '../wait-until.ts'
import { startLoad } from './http-load.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'

/** A server that ends some connections, by their number, after it has sent `beginning`, and answers on all others. */
async function closingServer(isClosed: (connection: number) => boolean, beginning = ''): Promise<string> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    const text = isClosed(connections) ? beginning : ANSWER
    socket.on('error', () => {})
    socket.once('data', () => socket.end(text))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

async function loadOn(target: string, resends: boolean) {
  const load = startLoad({ targets: [target], host: 'web.example', perSecond: 50, resends })
  await waitUntil(() => load.result().sent >= 5, { what: 'five requests are sent' })
  const { failures, resent } = await load.stop()
  return { failures: failures.length, resent: resent.length }
}

const isSecond = (connection: number): boolean => connection === 2

test('a request whose new connection is closed unanswered fails, unless the load may send it again', async () => {
  expect(await loadOn(await closingServer(isSecond), false)).toEqual({ failures: 1, resent: 0 })
  expect(await loadOn(await closingServer(isSecond), true)).toEqual({ failures: 0, resent: 1 })
})

test('a request is sent again only once, and never after a part of its response', async () => {
  const { failures, resent } = await loadOn(await closingServer(() => true), true)
  expect(failures).toBeGreaterThanOrEqual(5)
  expect(resent).toBe(failures)
  expect(await loadOn(await closingServer(isSecond, 'HTTP/1.1 200'), true)).toEqual({
    failures: 1,
    resent: 0,
  })
})
