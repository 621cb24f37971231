// The one connection of a node: outbound, and over TLS only to a server whose certificate the pinned authority signed.
// SAFETY 2 rows 12, 27.

import { Agent } from 'node:https'
import { AGENT_PATH, AGENT_SUBPROTOCOL } from '@holdfast/contract'
import { type ClientOptions, WebSocket } from 'ws'
import { trustOnly } from '../enroll/enroll-trust.ts'

export type Dial = () => WebSocket

const HANDSHAKE_MS = 10_000
/** The whole desired set of a node in one message. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

/** One TLS agent for all dials: it keeps the session tickets, with which a reconnection costs the server little. */
export function createDial(server: string, ca: string | undefined): Dial {
  const url = new URL(AGENT_PATH, server)
  const secure = url.protocol === 'https:'
  url.protocol = secure ? 'wss:' : 'ws:'
  const options: ClientOptions = {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    ...(secure
      ? { agent: new Agent({ minVersion: 'TLSv1.3', ...(ca === undefined ? {} : trustOnly(ca)) }) }
      : {}),
  }
  return () => new WebSocket(url, AGENT_SUBPROTOCOL, options)
}
