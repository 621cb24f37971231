// Opens the node's outbound connection to the server. TLS accepts only certificates of the trusted authorities.

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

/** PEM texts of the trusted authorities, the same list until they change; undefined: those of the machine. */
export type Trusted = () => readonly string[] | undefined

/**
 * Creates the dial function. All dials share one TLS agent, whose session tickets make reconnects cheap for the server, until
 * the trusted authorities change.
 */
export function createDial(server: string, trusted: Trusted): Dial {
  const url = new URL(AGENT_PATH, server)
  const secure = url.protocol === 'https:'
  url.protocol = secure ? 'wss:' : 'ws:'
  const options: ClientOptions & { readonly lookup: LookupFunction } = {
    lookup: randomAddresses(),
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
  }
  let known = trusted()
  let agent = secure ? agentFor(known) : undefined
  return () => {
    if (known !== trusted()) {
      known = trusted()
      agent = secure ? agentFor(known) : undefined
    }
    return new WebSocket(url, AGENT_SUBPROTOCOL, { ...options, ...(agent === undefined ? {} : { agent }) })
  }
}

const agentFor = (trusted: readonly string[] | undefined): Agent =>
  new Agent({ minVersion: 'TLSv1.3', ...(trusted === undefined ? {} : trustOnly(trusted)) })
