// An agent that sends exactly the messages that the test provides, valid or not, and records every message of the server.

import {
  AGENT_PATH,
  AGENT_SUBPROTOCOL,
  type AgentMessage,
  type DesiredItem,
  joinTemplates,
  type ServerMessage,
} from '@holdfast/contract'
import { helloOf, type SimulatedNode, waitUntil } from '@holdfast/testkit'
import { WebSocket } from 'ws'

type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>

export interface RawAgent {
  readonly heard: ServerMessage[]
  closeCode(): number | undefined
  send(message: AgentMessage | string): void
  /** The agent's connection. While the socket is paused, the agent reads nothing and answers nothing. */
  readonly socket: WebSocket
  /** Waits for the next message of this type that was not returned before. */
  next<T extends ServerMessage['type']>(type: T): Promise<Of<T>>
  closed(): Promise<number>
  close(): void
}

export async function dialRaw(url: string): Promise<RawAgent> {
  const target = new URL(AGENT_PATH, url.replace(/^http/, 'ws'))
  const socket = new WebSocket(target, AGENT_SUBPROTOCOL, { perMessageDeflate: false })
  const heard: ServerMessage[] = []
  const returned = new Set<ServerMessage>()
  let code: number | undefined
  socket.on('message', (data, isBinary) => {
    if (!isBinary) heard.push(JSON.parse(String(data)))
  })
  socket.on('error', () => {})
  socket.on('close', (closeCode) => {
    code = closeCode
  })
  await waitUntil(() => heard.length > 0 || code !== undefined, { what: 'the server sends a message' })
  return {
    heard,
    socket,
    closeCode: () => code,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: async <T extends ServerMessage['type']>(type: T) => {
      const found = await waitUntil(
        () => heard.find((message): message is Of<T> => message.type === type && !returned.has(message)),
        { what: `the server sends ${type}`, timeoutMs: 20_000 },
      )
      returned.add(found)
      return found
    },
    closed: () => waitUntil(() => code, { what: 'the server closes the connection', timeoutMs: 20_000 }),
    close: () => socket.terminate(),
  }
}

export interface OpenAgent extends RawAgent {
  readonly session: number
  /** Desired items in the first complete desired state that the agent received. */
  readonly items: readonly DesiredItem[]
}

/** Opens an agent session: completes the handshake and receives the first complete desired state. */
export async function openRaw(
  url: string,
  node: SimulatedNode,
  changes: Partial<AgentMessage & { type: 'hello' }> = {},
): Promise<OpenAgent> {
  const agent = await dialRaw(url)
  const { nonce } = await agent.next('challenge')
  agent.send({ ...helloOf(node, nonce), ...changes })
  const { session } = await agent.next('welcome')
  const items = joinTemplates(await agent.next('complete'))
  return { ...agent, session, items }
}

/** Opens a session, once more if the server rejects it because the node opened another one a moment ago. */
export function reopenRaw(
  url: string,
  node: SimulatedNode,
  changes: Partial<AgentMessage & { type: 'hello' }> = {},
): Promise<RawAgent> {
  return waitUntil(() => tryToOpen(url, node, changes), { what: 'a session', intervalMs: 200 })
}

async function tryToOpen(
  url: string,
  node: SimulatedNode,
  changes: Partial<AgentMessage & { type: 'hello' }>,
): Promise<RawAgent | undefined> {
  const agent = await dialRaw(url)
  const { nonce } = await agent.next('challenge')
  agent.send({ ...helloOf(node, nonce), ...changes })
  const { type } = await waitUntil(
    () => agent.heard.find((each) => each.type === 'welcome' || each.type === 'close'),
    { what: 'a session or none' },
  )
  if (type === 'welcome') return agent
  agent.close()
  return undefined
}
