// One simulated connection between an agent and a server, with a socket at each end. Messages arrive in order after a
// short delay. A cut connection loses all messages and looks open to each end until that end closes it.

import { EventEmitter } from 'node:events'
import type { AgentSocket } from '@holdfast/server/gateway/session/session'
import type { Random } from '../time/random.ts'
import type { SimulatedProcess, VirtualTime } from '../time/virtual-time.ts'

export interface Link {
  readonly server: AgentSocket
  readonly agent: AgentSideSocket
  readonly serverProcess: SimulatedProcess
  /** Cuts the connection: no further message arrives, and neither side is notified. */
  cut(): void
  /** Closes the connection because the process at the given end died. */
  reset(end: 'server' | 'agent'): void
}

export interface AgentSideSocket {
  readonly isOpen: boolean
  send(text: string): void
  ping(): void
  terminate(): void
  on(event: 'message', listener: (data: Buffer) => void): unknown
  on(event: 'pong' | 'close', listener: () => void): unknown
}

export interface LinkDeps {
  readonly time: VirtualTime
  readonly random: Random
  /** Receives every message for the trace of the simulation. */
  onMessage(from: string, text: string): void
}

const LEAST_MS = 1
const SPREAD_MS = 4
const OPEN = 1
const CLOSED = 3

interface End {
  readonly process: SimulatedProcess
  readonly listeners: EventEmitter
  state: number
  /** Arrival time of the newest message that is under way to this end. Later messages must not overtake that message. */
  arrivesAt: number
}

const newEnd = (process: SimulatedProcess): End => ({
  process,
  listeners: new EventEmitter(),
  state: OPEN,
  arrivesAt: 0,
})

export function openLink(deps: LinkDeps, agent: SimulatedProcess, server: SimulatedProcess): Link {
  const [agentEnd, serverEnd] = [newEnd(agent), newEnd(server)]
  let isCut = false
  const arrive = (to: End, work: () => void): void => {
    const { time, random } = deps
    to.arrivesAt = Math.max(to.arrivesAt, time.elapsedMs + LEAST_MS + random.below(SPREAD_MS))
    time.plan(to.arrivesAt - time.elapsedMs, to.process, work)
  }
  const close = (end: End): void => {
    if (end.state === CLOSED) return
    end.state = CLOSED
    end.listeners.emit('close')
  }
  const send = (from: End, to: End, event: 'message' | 'ping' | 'pong', data: Buffer): void => {
    if (from.state !== OPEN) return
    // A message on a cut connection is lost, and its sender is not notified.
    if (isCut) return
    arrive(to, () => to.state === OPEN && !isCut && to.listeners.emit(event, data, false))
  }
  const hangUp = (from: End, to: End): void => {
    if (from.state === CLOSED) return
    from.state = CLOSED
    arrive(from, () => from.listeners.emit('close'))
    if (!isCut) arrive(to, () => close(to))
  }
  const say = (from: End, to: End, data: Buffer | string): void => {
    deps.onMessage(from.process.name, String(data))
    send(from, to, 'message', Buffer.from(data))
  }
  return {
    serverProcess: server,
    agent: agentSocket(agentEnd, {
      say: (text) => say(agentEnd, serverEnd, text),
      ping: () => send(agentEnd, serverEnd, 'ping', Buffer.alloc(0)),
      hangUp: () => hangUp(agentEnd, serverEnd),
    }),
    server: serverSocket(serverEnd, {
      say: (data) => say(serverEnd, agentEnd, data),
      pong: () => send(serverEnd, agentEnd, 'pong', Buffer.alloc(0)),
      hangUp: () => hangUp(serverEnd, agentEnd),
    }),
    cut() {
      isCut = true
    },
    reset(end) {
      const other = end === 'server' ? agentEnd : serverEnd
      if (!isCut) arrive(other, () => close(other))
    },
  }
}

interface AgentActions {
  say(text: string): void
  ping(): void
  hangUp(): void
}

function agentSocket(end: End, { say, ping, hangUp }: AgentActions): AgentSideSocket {
  return {
    get isOpen() {
      return end.state === OPEN
    },
    send: say,
    ping,
    terminate: hangUp,
    on: end.listeners.on.bind(end.listeners),
  }
}

interface ServerActions {
  say(data: string | Buffer): void
  pong(): void
  hangUp(): void
}

function serverSocket(end: End, { say, pong, hangUp }: ServerActions): AgentSocket {
  return {
    get readyState() {
      return end.state
    },
    OPEN,
    bufferedAmount: 0,
    pong,
    send: say,
    close: hangUp,
    terminate: hangUp,
    on: end.listeners.on.bind(end.listeners),
  }
}
