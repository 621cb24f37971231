import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { listenAt } from './limit-connections.ts'

/** More than twice the queue that Node asks for by default. */
const CONNECTIONS = 1_200

test('a burst of connections waits in the queue of the listener and is not dropped', async () => {
  const server = createServer().listen(listenAt({ host: '127.0.0.1', port: 0 }))
  onTestFinished(() => void server.closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // Node connects in the same turn and accepts in a later one, so until then all connections wait.
  await promisify(process.nextTick)()
  expect(waitingAt(port)).toBe(CONNECTIONS)
})

/** How many connections the listener at a port has not accepted yet, as the kernel counts them. */
function waitingAt(port: number): number {
  const { stdout } = spawnSync('ss', ['-H', '-l', '-t', '-n', `sport = :${port}`], { encoding: 'utf8' })
  return Number(stdout.trim().split(/\s+/)[1])
}
