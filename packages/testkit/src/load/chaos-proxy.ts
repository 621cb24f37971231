// A TCP proxy that injects faults on command: disconnects, stalls, delays and half-open connections between a client and
// an engine, per direction. It replaces netem, which the kernel of the test machines lacks.

import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { freePort } from '../free-port.ts'

export type Direction = 'toServer' | 'toClient'
const BOTH: readonly Direction[] = ['toServer', 'toClient']

export interface ChaosProxy {
  readonly host: string
  readonly port: number
  connectionCount(): number
  /** Resets every open connection; the proxy still serves new connections. */
  cutAll(): void
  /** Stops the flow of bytes on open and new connections. No byte is lost: resume() delivers the delayed bytes. */
  stall(direction?: Direction | 'both'): void
  /** Ends stalls, delays, a pending cut and refuseNew. Cut and half-open connections are not repaired. */
  resume(): void
  /**
   * Resets a connection after exactly n more bytes in this direction, counted over all connections. The connection that
   * carried the last byte is reset.
   */
  cutAfterBytes(n: number, direction?: Direction): void
  /** Delays every byte by this time and keeps the order of bytes. */
  delay(ms: number, direction?: Direction | 'both'): void
  /** Removes the peer of the survivor silently: the survivor's connection stays open without a peer. */
  halfOpen(survivor?: 'client' | 'server'): void
  /** Resets new connections at once. */
  refuseNew(): void
  stop(): Promise<void>
}

interface Lane {
  stalled: boolean
  delayMs: number
  /** Number of bytes until the connection is cut; undefined if no cut is set. */
  bytesLeft: number | undefined
}
interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** True if one side of the connection was removed and the other side must not notice. */
  abandoned: boolean
}
interface ProxyState {
  readonly lanes: { readonly [D in Direction]: Lane }
  readonly pairs: Set<Pair>
  readonly strays: Set<Socket>
  /** Functions to call when a stall ends. */
  readonly wake: Set<() => void>
  refusing: boolean
}

const calmLane = (): Lane => ({ stalled: false, delayMs: 0, bytesLeft: undefined })
const directionsOf = (direction: Direction | 'both'): readonly Direction[] =>
  direction === 'both' ? BOTH : [direction]

/** Starts a proxy on a free loopback port. It forwards all bytes until a fault is injected. */
export async function startChaosProxy(targetHost: string, targetPort: number): Promise<ChaosProxy> {
  const state: ProxyState = {
    lanes: { toServer: calmLane(), toClient: calmLane() },
    pairs: new Set(),
    strays: new Set(),
    wake: new Set(),
    refusing: false,
  }
  const port = await freePort()
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (state.refusing) client.resetAndDestroy()
    else join(state, client, dial({ host: targetHost, port: targetPort, allowHalfOpen: true }))
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, '127.0.0.1', resolve)
  })
  return { host: '127.0.0.1', port, ...controls(state), stop: () => stop(state, listener) }
}

function controls(state: ProxyState) {
  return {
    connectionCount: () => state.pairs.size,
    cutAll: () => [...state.pairs].forEach(cut),
    stall: (direction: Direction | 'both' = 'both') => {
      for (const one of directionsOf(direction)) state.lanes[one].stalled = true
    },
    resume: () => calm(state),
    cutAfterBytes: (n: number, direction: Direction = 'toClient') => {
      state.lanes[direction].bytesLeft = n
    },
    delay: (ms: number, direction: Direction | 'both' = 'both') => {
      for (const one of directionsOf(direction)) state.lanes[one].delayMs = ms
    },
    halfOpen: (survivor: 'client' | 'server' = 'client') => {
      for (const pair of [...state.pairs]) abandon(state, pair, survivor)
    },
    refuseNew: () => {
      state.refusing = true
    },
  }
}

function calm(state: ProxyState): void {
  for (const one of BOTH) Object.assign(state.lanes[one], calmLane())
  state.refusing = false
  for (const go of [...state.wake]) go()
}

function join(state: ProxyState, client: Socket, server: Socket): void {
  const pair: Pair = { client, server, abandoned: false }
  state.pairs.add(pair)
  const over = () => {
    state.pairs.delete(pair)
    if (!pair.abandoned) cut(pair)
  }
  for (const socket of [client, server]) {
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', over)
  }
  const ended = [carry(state, pair, 'toServer'), carry(state, pair, 'toClient')]
  Promise.all(ended).catch(() => {
    if (!pair.abandoned) cut(pair)
  })
}

/** Forwards the bytes of one direction. During a stall the proxy stops reading, so that the sender's buffers fill up. */
async function carry(state: ProxyState, pair: Pair, direction: Direction): Promise<void> {
  const [from, to] = direction === 'toServer' ? [pair.client, pair.server] : [pair.server, pair.client]
  const lane = state.lanes[direction]
  let delivered = Promise.resolve()
  const deliver = async (chunk: Buffer, dueMs: number) => {
    if (dueMs > performance.now()) await until(state, dueMs - performance.now())
    while (lane.stalled) await until(state)
    if (!pair.abandoned) await pass(lane, pair, to, chunk)
  }
  for await (const chunk of from.iterator({ destroyOnReturn: false })) {
    const dueMs = performance.now() + lane.delayMs
    delivered = delivered.then(() => deliver(chunk, dueMs))
    // With a delay, the next chunk is read before the previous chunk is delivered; otherwise the delays would add up.
    if (lane.delayMs === 0) await delivered
  }
  await delivered
  if (!pair.abandoned) to.end()
}

/** Forwards a chunk and cuts the connection at the right byte, once the kernel has accepted the bytes before it. */
async function pass(lane: Lane, pair: Pair, to: Socket, chunk: Buffer): Promise<void> {
  const allowed = lane.bytesLeft === undefined ? chunk.length : Math.min(lane.bytesLeft, chunk.length)
  const due = lane.bytesLeft !== undefined && lane.bytesLeft <= chunk.length
  if (lane.bytesLeft !== undefined) lane.bytesLeft = due ? undefined : lane.bytesLeft - allowed
  await write(to, chunk.subarray(0, allowed))
  if (due) cut(pair)
}

/** Writes bytes. Resolves when the socket has accepted them, or when it closes first. */
function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (bytes.length === 0 || to.destroyed) resolve()
    else to.write(bytes, () => resolve())
  })
}

/** Resolves when the injected faults end, or after the given time. */
function until(state: ProxyState, ms?: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(() => go(), ms)
    const go = () => {
      clearTimeout(timer)
      state.wake.delete(go)
      resolve()
    }
    state.wake.add(go)
  })
}

function cut(pair: Pair): void {
  for (const socket of [pair.client, pair.server]) if (!socket.destroyed) socket.resetAndDestroy()
}

function abandon(state: ProxyState, pair: Pair, survivor: 'client' | 'server'): void {
  pair.abandoned = true
  state.strays.add(pair[survivor])
  pair[survivor].once('close', () => state.strays.delete(pair[survivor]))
  pair[survivor === 'client' ? 'server' : 'client'].resetAndDestroy()
}

async function stop(state: ProxyState, listener: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
  calm(state)
  for (const pair of [...state.pairs]) cut(pair)
  for (const socket of [...state.strays]) socket.resetAndDestroy()
  await closed
}
