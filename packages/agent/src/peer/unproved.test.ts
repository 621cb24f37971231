// Strangers open connections to the peer port and never complete a handshake. A peer still connects within the time that the
// renewal of a promise has.

import { connect, type Socket } from 'node:net'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import { waitUntil } from '@holdfast/testkit/wait-until'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { newNodeId } from '../replication/peer-nodes.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { selfSignedIdentity } from './certificate.ts'
import { dialPeer } from './dial.ts'
import { listenForPeers } from './listen.ts'

const STRANGERS = 200
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function startPort() {
  const own = generateNodeKeys().identityKey
  const key = generateNodeKeys().identityKey
  const peer = { nodeId: newNodeId(), address: '127.0.0.1:9', publicKeys: [publicKeyText(key)] }
  const { port, close } = await listenForPeers({
    host: '127.0.0.1',
    port: 0,
    identity: selfSignedIdentity(own),
    peers: () => [peer],
    serve: async () => {},
    log: pino({ level: 'silent' }),
  })
  ends.push(close)
  const listening = { nodeId: newNodeId(), address: `127.0.0.1:${port}`, publicKeys: [publicKeyText(own)] }
  const dial = () =>
    dialPeer(listening, {
      identity: selfSignedIdentity(key),
      allowLocal: true,
      handshakeMs: PROMOTION_TIMINGS.shrinkAfterMs,
    })
  return { port, dial }
}

/** Opens idle connections. The port may close some, but not before it has accepted them. */
async function openIdle(port: number, addressOf: (at: number) => string): Promise<Socket[]> {
  const opened = Array.from({ length: STRANGERS }, (_, at) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(at) })
    socket.on('error', () => {})
    ends.push(() => socket.destroy())
    return new Promise<Socket>((resolve) => socket.once('connect', () => resolve(socket)))
  })
  return Promise.all(opened)
}

const isOpen = (socket: Socket): boolean => !socket.closed

test.each([
  ['the address of the peer', () => '127.0.0.1', 16],
  ['one other address', () => '127.0.0.2', 16],
  ['200 addresses', (at: number) => `127.0.1.${at + 1}`, 64],
])('a peer connects in time while strangers at %s hold connections', async (_, addressOf, limit) => {
  const { port, dial } = await startPort()
  const idle = await openIdle(port, addressOf)
  const connection = await dial()
  ends.push(connection.close)
  for (const socket of idle) socket.resume()
  await waitUntil(() => idle.filter(isOpen).length <= limit, {
    what: 'only the permitted connections are open',
  })
  expect(idle.filter(isOpen).length).toBeGreaterThan(0)
})
