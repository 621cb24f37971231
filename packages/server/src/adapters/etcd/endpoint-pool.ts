// Which etcd member is asked next? The current one as long as it answers; the next in the list when it does not.

import type { Client } from '@grpc/grpc-js'
import { connectivityState } from '@grpc/grpc-js'
import { sleep } from '../../lib/sleep.ts'
import { withDeadline } from '../../lib/with-deadline.ts'
import { EngineError } from '../../ports/key-value.ts'

export interface Endpoint {
  readonly name: string
  client: Client
  /** When this member last answered anything at all, on the monotonic clock. */
  lastAnswerAt: number
  /** When the present connection was begun. */
  openedAt: number
  /** Drops the connection for a new one: the present one may lead nowhere without our being told. */
  renew(): void
  /** For good: a call that fails after that must not dial again. */
  close(): void
}

export function makeEndpoint(name: string, open: () => Client): Endpoint {
  let closed = false
  const endpoint: Endpoint = {
    name,
    client: open(),
    lastAnswerAt: Number.NEGATIVE_INFINITY,
    openedAt: performance.now(),
    renew() {
      if (closed) return
      endpoint.client.close()
      endpoint.client = open()
      endpoint.openedAt = performance.now()
    },
    close() {
      closed = true
      endpoint.client.close()
    },
  }
  return endpoint
}

export interface EndpointPool {
  readonly endpoints: readonly Endpoint[]
  /** A member whose connection stands. Rejects with applied 'no' when none could be reached before `deadlineAt`. */
  acquire(deadlineAt: number): Promise<Endpoint>
  /** Later calls go elsewhere first. No effect when the pool has already moved on. */
  leave(endpoint: Endpoint): void
  close(): void
}

/** How long a connection may take before the next member is tried as well. */
const CONNECT_MS = 1_000
/**
 * A connection that brought nothing for this long may have died without our being told, perhaps together with the one
 * that is being left: it is made anew before use. Dialling costs milliseconds, finding out by a lost request a second.
 */
const STALE_MS = 1_000
/** Between two rounds over all the members. */
const ROUND_PAUSE_MS = 100

export function makeEndpointPool(endpoints: readonly Endpoint[]): EndpointPool {
  let current = 0
  let looking: Promise<Endpoint | undefined> | undefined
  let closed = false
  const at = (offset: number) => endpoints[(current + offset) % endpoints.length]

  async function acquire(deadlineAt: number): Promise<Endpoint> {
    do {
      if (closed) throw new EngineError('unavailable', 'no', 'the etcd client was closed')
      const preferred = at(0)
      if (preferred && isReady(preferred)) return preferred
      const found = await foundBy(deadlineAt)
      if (found) return found
      await sleep(Math.min(ROUND_PAUSE_MS, leftUntil(deadlineAt)))
    } while (performance.now() < deadlineAt)
    throw new EngineError('unavailable', 'no', 'no etcd member could be reached')
  }

  async function foundBy(deadlineAt: number): Promise<Endpoint | undefined> {
    return withDeadline(leftUntil(deadlineAt), look(), () => undefined)
  }

  /** One round for all who need a member: each on its own, they would drop the connections that others have just begun. */
  function look(): Promise<Endpoint | undefined> {
    looking ??= firstThatConnects().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function firstThatConnects(): Promise<Endpoint | undefined> {
    const order = endpoints.map((_, offset) => at(offset))
    for (const [offset, endpoint] of order.entries()) {
      if (endpoint && offset > 0) renewIfStale(endpoint)
      if (!endpoint || !(await connects(endpoint, performance.now() + CONNECT_MS))) continue
      current = endpoints.indexOf(endpoint)
      return endpoint
    }
    return undefined
  }

  function leave(endpoint: Endpoint): void {
    if (at(0) !== endpoint) return
    current = (current + 1) % endpoints.length
    const next = at(0)
    if (next && next !== endpoint) renewIfStale(next)
  }

  function close(): void {
    closed = true
    for (const endpoint of endpoints) endpoint.close()
  }

  return { endpoints, acquire, leave, close }
}

/** Never below zero: Node writes a warning of its own about a timer in the past, on our standard error. */
function leftUntil(at: number): number {
  return Math.max(0, at - performance.now())
}

/** One that was only just begun had no time to bring anything. */
function renewIfStale(endpoint: Endpoint): void {
  const { lastAnswerAt, openedAt } = endpoint
  if (performance.now() - Math.max(lastAnswerAt, openedAt) > STALE_MS) endpoint.renew()
}

function isReady(endpoint: Endpoint): boolean {
  return endpoint.client.getChannel().getConnectivityState(true) === connectivityState.READY
}

/** Whether the connection stands before `until`; a member that refuses it is given up at once. */
async function connects(endpoint: Endpoint, until: number): Promise<boolean> {
  const channel = endpoint.client.getChannel()
  for (;;) {
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) return true
    if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) return false
    const leftMs = leftUntil(until)
    if (leftMs === 0) return false
    const changed = await new Promise<boolean>((resolve) =>
      channel.watchConnectivityState(state, Date.now() + leftMs, (error) => resolve(!error)),
    )
    if (!changed) return false
  }
}
