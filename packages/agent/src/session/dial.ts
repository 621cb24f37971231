// Opens the node's outbound connection to the server. TLS accepts only certificates of the pinned authority.

import { Agent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { AGENT_PATH, AGENT_SUBPROTOCOL } from '@holdfast/contract'
import { type ClientOptions, WebSocket } from 'ws'
import { trustOnly } from '../enroll/enroll-trust.ts'
import { randomAddresses } from './random-addresses.ts'

export type Dial = () => WebSocket

const HANDSHAKE_MS = 10_000
/** Largest message that the agent accepts. A complete desired set is one message. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

/**
 * Creates the dial function. All dials share one TLS agent, whose session tickets make reconnects cheap for the server.
 */
export function createDial(server: string, ca: string | undefined): Dial {
  const url = new URL(AGENT_PATH, server)
  const secure = url.protocol === 'https:'
  url.protocol = secure ? 'wss:' : 'ws:'
  const options: ClientOptions & { readonly lookup: LookupFunction } = {
    lookup: randomAddresses(),
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    ...(secure
      ? { agent: new Agent({ minVersion: 'TLSv1.3', ...(ca === undefined ? {} : trustOnly(ca)) }) }
      : {}),
  }
  return () => new WebSocket(url, AGENT_SUBPROTOCOL, options)
}
