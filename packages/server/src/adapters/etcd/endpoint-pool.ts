// Chooses the etcd member for the next call: the current member while it answers, otherwise the next member in the list.

import type { Client } from '@grpc/grpc-js'
import { connectivityState } from '@grpc/grpc-js'
import { sleep } from '../../lib/sleep.ts'
import { withDeadline } from '../../lib/with-deadline.ts'
import { EngineError } from '../../ports/key-value.ts'

export interface Endpoint {
  readonly name: string
  /** The current connection; a connection with outdated credentials is replaced first. */
  readonly client: Client
  /** Time of the member's last answer to any call, on the monotonic clock. */
  lastAnswerAt: number
  /** Time at which the current connection to the member was opened. */
  openedAt: number
  /** Replaces the connection to the member, because a connection may be dead without any error. */
  renew(): void
  /** Closes the connection to the member for good: a call that fails after `close` does not dial again. */
  close(): void
}

/** Longest time that calls continue on a connection whose credentials are outdated. */
const RETIRE_MS = 10_000

/** `credentials` returns another value once new connections have other credentials. */
export function makeEndpoint(
  name: string,
  open: () => Client,
  credentials: () => unknown = () => undefined,
): Endpoint {
  let closed = false
  let openedWith = credentials()
  let client = open()
  const retired = new Set<Client>()
  const reopen = (): void => {
    openedWith = credentials()
    client = open()
    endpoint.openedAt = performance.now()
  }
  const endpoint: Endpoint = {
    name,
    get client() {
      if (!closed && openedWith !== credentials()) {
        retireLater(client, retired)
        reopen()
      }
      return client
    },
    lastAnswerAt: Number.NEGATIVE_INFINITY,
    openedAt: performance.now(),
    renew() {
      if (closed) return
      client.close()
      reopen()
    },
    close() {
      closed = true
      for (const one of [client, ...retired]) one.close()
    },
  }
  return endpoint
}

/** Closes a connection after its calls have ended: the outcome of a write that is cut off would be unknown. */
function retireLater(client: Client, retired: Set<Client>): void {
  retired.add(client)
  setTimeout(() => {
    retired.delete(client)
    client.close()
  }, RETIRE_MS).unref()
}

export interface EndpointPool {
  readonly endpoints: readonly Endpoint[]
  /** Returns a connected member. Rejects with an error of `applied: 'no'` if no member is reached before `deadlineAt`. */
  acquire(deadlineAt: number): Promise<Endpoint>
  /** Makes later calls try another member first. No effect when the pool already uses another member. */
  leave(endpoint: Endpoint): void
  close(): void
}

/** Time that connecting to one member may take before the next member is tried as well. */
const CONNECT_MS = 1_000
/**
 * Time without an answer after which a connection is replaced before use: it may be dead, perhaps for the same reason as
 * the connection that has just failed. Dialing costs milliseconds; a lost request costs a second.
 */
const STALE_MS = 1_000
/** Pause between two searches for a member. Each search tries to connect to all members, one after another. */
const ROUND_PAUSE_MS = 100

export function makeEndpointPool(endpoints: readonly Endpoint[]): EndpointPool {
  let current = 0
  let search: Promise<Endpoint | undefined> | undefined
  let closed = false
  const at = (offset: number) => endpoints[(current + offset) % endpoints.length]

  async function acquire(deadlineAt: number): Promise<Endpoint> {
    do {
      if (closed) throw new EngineError('unavailable', 'no', 'the etcd client was closed')
      const preferred = at(0)
      if (preferred && isReady(preferred)) return preferred
      const found = await findBy(deadlineAt)
      if (found) return found
      await sleep(Math.min(ROUND_PAUSE_MS, leftUntil(deadlineAt)))
    } while (performance.now() < deadlineAt)
    throw new EngineError('unavailable', 'no', 'no etcd member could be reached')
  }

  async function findBy(deadlineAt: number): Promise<Endpoint | undefined> {
    return withDeadline(leftUntil(deadlineAt), findMember(), () => undefined)
  }

  /** Finds a member. All callers share one search, because two searches would replace each other's new connections. */
  function findMember(): Promise<Endpoint | undefined> {
    search ??= firstThatConnects().finally(() => {
      search = undefined
    })
    return search
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

/** Milliseconds until `at`. Never negative, because Node prints a warning for a timer in the past. */
function leftUntil(at: number): number {
  return Math.max(0, at - performance.now())
}

/** Replaces the connection to a member that has not answered recently, unless the connection was just opened. */
function renewIfStale(endpoint: Endpoint): void {
  const { lastAnswerAt, openedAt } = endpoint
  if (performance.now() - Math.max(lastAnswerAt, openedAt) > STALE_MS) endpoint.renew()
}

function isReady(endpoint: Endpoint): boolean {
  return endpoint.client.getChannel().getConnectivityState(true) === connectivityState.READY
}

/** Waits until the member is connected. Returns false at `until`, or at once if the connection is refused. */
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
