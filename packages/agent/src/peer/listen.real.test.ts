// Connections to the peer port that are opened and not used: all are closed in time, so that they cannot use up the limit.

import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { speak } from '../replication/hostile/speak.fixture.ts'
import { newNodeId } from '../replication/peer-nodes.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { selfSignedIdentity } from './certificate.ts'
import { peerTls } from './dial.ts'
import { listenForPeers, type PeerPort } from './listen.ts'

const key = generateNodeKeys().identityKey
const identity = selfSignedIdentity(key)
const peer = { nodeId: newNodeId(), address: '127.0.0.1:9', publicKeys: [publicKeyText(key)] }
/** The head of a TLS record of 512 bytes, and a part of it. */
const SLOW_HELLO = Buffer.concat([Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252]), Buffer.alloc(300)])
/** The head of a frame of 256 bytes, and a part of it. */
const SLOW_REQUEST = Buffer.concat([Buffer.from([1, 0, 0, 1, 0]), Buffer.alloc(200)])
let requests = 0
let listening: PeerPort
beforeAll(async () => {
  listening = await listenForPeers({
    host: '127.0.0.1',
    port: 0,
    identity: selfSignedIdentity(generateNodeKeys().identityKey),
    peers: () => [peer],
    serve: async () => {
      requests += 1
    },
    log: pino({ level: 'silent' }),
  })
})
afterAll(() => listening?.close())

test.concurrent.each([
  ['sends nothing', { bytes: Buffer.alloc(0) }],
  ['begins a handshake and stops', { bytes: Buffer.from([22, 3, 1, 2, 0, 1]) }],
  ['sends its handshake byte by byte', { bytes: SLOW_HELLO, bytesPerSecond: 2 }],
  ['sends no request', { bytes: Buffer.alloc(0), tls: peerTls(identity) }],
  ['sends its request byte by byte', { bytes: SLOW_REQUEST, bytesPerSecond: 2, tls: peerTls(identity) }],
])('closes a connection that %s', async (_what, speech) => {
  expect(await speak({ ...speech, port: listening.port })).toEqual(Buffer.alloc(0))
  expect(requests).toBe(0)
})
