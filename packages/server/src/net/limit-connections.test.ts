import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type ConnectionLimits, limitConnections } from './limit-connections.ts'

async function openServer(limits: Partial<ConnectionLimits>) {
  const refused: string[] = []
  const server = createServer((_request, response) => response.end('ok'))
  limitConnections(server, {
    ...{ maxConnections: 100, halfOpenPerAddress: 100, isExempt: () => false },
    ...{ onRefused: (address) => refused.push(address), ...limits },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  /** Opens a connection that sends nothing yet; whether the server still keeps it is seen from `ask`. */
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    return socket
  }
  return { refused, open }
}

/** Sends a request; returns the status, or `closed` if the server has closed the connection. */
function ask(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(String(bytes).slice(9, 12)))
    socket.once('close', () => resolve('closed'))
    if (socket.destroyed) resolve('closed')
    else socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  })
}

test('an address may have only so many connections without a request', async () => {
  const { open, refused } = await openServer({ halfOpenPerAddress: 2 })
  const [one, two] = [await open(), await open()]
  expect(await ask(await open())).toBe('closed')
  expect(refused).toEqual(['127.0.0.1'])
  // A request ends the half-open state of its connection, which stays open.
  expect(await ask(one)).toBe('200')
  expect(await ask(await open())).toBe('200')
  expect(await ask(two)).toBe('200')
  expect(await ask(one)).toBe('200')
})

test('a closed connection makes room, and exempt addresses are not limited', async () => {
  const { open } = await openServer({ halfOpenPerAddress: 1 })
  const first = await open()
  first.destroy()
  await expect.poll(async () => ask(await open())).toBe('200')
  const exempt = await openServer({ halfOpenPerAddress: 1, isExempt: () => true })
  const [one, two] = [await exempt.open(), await exempt.open()]
  expect([await ask(one), await ask(two)]).toEqual(['200', '200'])
})

test('all connections together are limited', async () => {
  const { open, refused } = await openServer({ maxConnections: 2 })
  const [one, two] = [await open(), await open()]
  expect(await ask(await open())).toBe('closed')
  expect(refused).toEqual(['127.0.0.1'])
  expect([await ask(one), await ask(two)]).toEqual(['200', '200'])
})
