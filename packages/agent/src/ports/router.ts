// What the agent asks of the router of its node, and no more. The router is a service of its own, which goes on without the
// agent; all that it was told is on its disk. Every call has a deadline.
//
// Two things are told apart. Which deployments are routed, by which hosts and paths, changes with what users ask for; a
// change replaces the router's configuration. Where a request is led changes with every replica that comes or goes; that
// is in files which the router reads for each request, so that such a change costs no connection and is in force at once.

import type { Route } from '@holdfast/contract'

/** One routed deployment, as the router is to serve it. */
export interface Backend {
  /** Also the id of its route (SPEC 2.2). */
  readonly name: string
  readonly routes: readonly Route[]
  /** Addresses of its ready replicas on this node. */
  readonly local: readonly string[]
  /** `host:port` of the nodes that have others; asked only where none is here. */
  readonly peers: readonly string[]
}

/** By the name of the deployment: the addresses on this node that its requests are led to. */
export type Upstreams = ReadonlyMap<string, readonly string[]>

export interface RouterAdmin {
  readUpstreams(): Promise<Upstreams>
  /** Requests that come after the return are led so; on disk. Also while the router is away. */
  lead(backends: readonly Backend[]): Promise<void>
  /** Their routes are served on return, and no others; leads to those that are routed no more are gone. */
  load(backends: readonly Backend[]): Promise<void>
  /** By `address:port`; what is not named has no request in flight. */
  requestsInFlight(): Promise<ReadonlyMap<string, number>>
}

/** `refused`: it says no to what was told. `unavailable`: no answer, and what was told may be in force or not. */
export type RouterFault = 'refused' | 'unavailable'

export class RouterError extends Error {
  readonly fault: RouterFault

  constructor(fault: RouterFault, message: string) {
    super(message)
    this.name = 'RouterError'
    this.fault = fault
  }
}
