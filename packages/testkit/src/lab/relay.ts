// Relays connections from the lab's network to engines that listen on this host's loopback, where machines of servers cannot
// reach them. A process of its own: the engines stay reachable while the test's process is busy.

import { connect } from 'node:net'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { type EngineProcess, startEngineProcess } from '../engines/engine-process.ts'
import { waitUntil } from '../wait-until.ts'

const PROGRAM = join(import.meta.dirname, 'relay-main.ts')

/** Starts a relay from each port of an address of this host to the same port of loopback. It accepts connections on return. */
export async function startRelay(
  host: string,
  ports: readonly number[],
  logFile: string,
): Promise<EngineProcess> {
  const args = [PROGRAM, host, ...ports.map(String)]
  const relay = startEngineProcess({ binary: execPath, args, logFile })
  const giveUp = () => (relay.hasExited() ? relay.logTail() : undefined)
  await Promise.all(
    ports.map((port) =>
      waitUntil(() => accepts(host, port), {
        what: `the relay at ${host}:${port} accepts connections`,
        giveUp,
      }),
    ),
  )
  return relay
}

function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: 1_000 }, () => resolve(true))
  socket.on('timeout', () => resolve(false)).on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
