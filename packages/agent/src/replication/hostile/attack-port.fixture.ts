// A program that attacks the peer port of another machine and prints how many bytes it received:
// node attack-port.fixture.ts HOST VOLUME STATE. STATE is the state folder of an agent, whose key it uses beside others.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { argv, stdout } from 'node:process'
import { type ConnectionOptions, connect } from 'node:tls'
import { selfSignedIdentity } from '../../peer/certificate.ts'
import { generateNodeKeys, loadNodeState } from '../../state/node-state.ts'
import { asPeer, header, type Speech, speak, streamed } from './speak.fixture.ts'

const PORT = 7844
const ROUNDS = 3

async function attack(host: string, volume: string, state: string): Promise<object> {
  const node = await loadNodeState(state)
  if (node === undefined) throw new Error(`${state} has no identity of a node`)
  const keys = [node.identityKey, generateNodeKeys().identityKey]
  const checkpoint = { epoch: 1, number: 999 }
  const requests = [
    Buffer.concat([header({ request: 'copy', volume, checkpoint }), streamed(randomBytes(5000))]),
    header({ request: 'confirm', volumes: [{ volume, epoch: 1 }] }),
    randomBytes(5000),
    Buffer.from([1, 255, 255, 255, 255]),
  ]
  const over = (bytes: Buffer): Omit<Speech, 'port'>[] => [
    { bytes },
    { bytes, tls: { rejectUnauthorized: false } },
    ...keys.map((key) => ({ bytes, tls: asPeer(selfSignedIdentity(key)) })),
    ...keys.map((key) => ({ bytes, tls: { ...asPeer(selfSignedIdentity(key)), ALPNProtocols: ['h2'] } })),
  ]
  const attempts = Array.from({ length: ROUNDS }, () => requests.flatMap(over)).flat()
  // Attempts ignore errors; without this, a port that cannot be reached would pass.
  const probe = createConnection({ host, port: PORT })
  await once(probe, 'connect')
  probe.destroy()
  let received = 0
  for (const attempt of attempts) received += (await speak({ ...attempt, host, port: PORT })).length
  const isReached = await completesHandshake(host, asPeer(selfSignedIdentity(node.identityKey)))
  return { attempts: attempts.length, received, isReached }
}

/** Whether TLS at the port answers, without which no attempt would mean anything. */
function completesHandshake(host: string, tls: ConnectionOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...tls, host, port: PORT })
    socket.on('secureConnect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
  })
}

const [, , host = '', volume = '', state = ''] = argv
stdout.write(JSON.stringify(await attack(host, volume, state)))
