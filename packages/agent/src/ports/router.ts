// The part of the node's router that the agent uses. The router is a separate service that keeps running without the agent,
// from its own disk. Every call has a deadline.
//
// Routes (hosts and paths) change with what users deploy; a change replaces the router's configuration. Upstreams change
// with every replica; they are in files that the router reads for each request, so a change breaks no connection and
// takes effect at once. See docs/design/routing.md#upstreams.

import type { Route } from '@holdfast/contract'

/** One routed deployment as the router serves it. */
export interface Backend {
  /** Also the id of its route in the router's configuration. */
  readonly name: string
  readonly routes: readonly Route[]
  /** Addresses of its ready replicas on this node. */
  readonly local: readonly string[]
  /** `host:port` of other nodes with ready replicas; used only if this node has none. */
  readonly peers: readonly string[]
}

/** The addresses on this node that a deployment's requests go to, by the deployment's name. */
export type Upstreams = ReadonlyMap<string, readonly string[]>

export interface RouterAdmin {
  readUpstreams(): Promise<Upstreams>
  /** Requests that arrive after this resolves use these upstreams. Also works while the router is down. */
  writeUpstreams(backends: readonly Backend[]): Promise<void>
  /** Serves the routes of these backends and no others, and deletes the upstream files of the others. */
  load(backends: readonly Backend[]): Promise<void>
  /** The number of requests in flight by `address:port`; an address that is missing has none. */
  requestsInFlight(): Promise<ReadonlyMap<string, number>>
}

/** `refused`: the router rejected the configuration. `unavailable`: no answer; the change may or may not be in effect. */
export type RouterFault = 'refused' | 'unavailable'

export class RouterError extends Error {
  readonly fault: RouterFault

  constructor(fault: RouterFault, message: string) {
    super(message)
    this.name = 'RouterError'
    this.fault = fault
  }
}
