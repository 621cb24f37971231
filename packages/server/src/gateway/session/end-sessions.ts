// Ends the sessions of a server replica that stops. The agents are notified and connect to another one.

import { sleep } from '../../lib/sleep.ts'
import type { GatewayParts } from '../parts.ts'
import { type AgentSocket, closeSession } from './session.ts'

/** How long a connected agent may take to close its side of the connection when the server stops. */
const CLOSE_TIMEOUT_MS = 1_000

/** Ends each session at a random time within `spreadMs`, or all of them before it returns if that is 0. */
export async function endSessions(
  { waiting, held }: Pick<GatewayParts, 'waiting' | 'held'>,
  spreadMs: number,
  random: () => number = Math.random,
): Promise<void> {
  for (const { socket } of waiting) {
    closeSession(socket, 'server_closing')
    terminateLater(socket)
  }
  await Promise.all(
    [...held.all.values()].map(async (session) => {
      if (spreadMs > 0) await sleep(spreadMs * random())
      // Another session of the node may have replaced this one.
      if (held.all.get(session.nodeId) !== session) return
      const { socket } = session
      held.drop(session, 'server_closing')
      if (socket !== undefined) terminateLater(socket)
    }),
  )
}

/** An agent that does not close its side of the connection is disconnected, so that the server can stop. */
function terminateLater(socket: AgentSocket): void {
  setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
}
