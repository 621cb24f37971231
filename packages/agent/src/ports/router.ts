// The part of the node's router that the agent uses. The router is a separate service that keeps running without the
// agent, from the configuration on its disk. Every call has a deadline.
//
// Routes (hosts and paths) change with deployments; a change replaces the router's configuration. Upstreams change with
// every replica; they are in files that the router reads for each request, so a change breaks no connection and takes
// effect at once. See docs/design/routing.md#upstreams.

import type { Route } from '@holdfast/contract'

/** A routed deployment with its routes and the addresses that the router forwards to. */
export interface Backend extends Pool {
  /** Name of the deployment; also the id of the deployment's route in the router's configuration. */
  readonly name: string
  readonly routes: readonly Route[]
  /** The replicas of the deployment's canary, and the share of requests that they get, in percent. */
  readonly canary?: Pool & { readonly weight: number }
}

/** Replicas that are equal for the router. */
export interface Pool {
  /** Addresses of the ready replicas on this node. */
  readonly local: readonly string[]
  /** `host:port` of other nodes with ready replicas; used only if this node has no ready replica. */
  readonly peers: readonly string[]
  /** The same for mutual TLS. `peers` are then used only while none of these can be dialed. */
  readonly securePeers?: readonly string[]
}

/** The key and certificate that this node's router presents to other routers, in PEM. */
export interface RouterIdentity {
  readonly key: string
  readonly certificate: string
}

/** The router of another node of the tenant. */
export interface PeerRouter {
  /** The `host:port` for plain HTTP, which identifies the router in the routes. */
  readonly plainAddress: string
  /** The `host:port` for mutual TLS; undefined: this router only sends by TLS. */
  readonly address: string | undefined
  /** The name in the certificates. */
  readonly name: string
  /** Base64 of DER; the router presents one of them. */
  readonly certificates: readonly string[]
}

/** How the router recognizes the routers of the tenant's other nodes. */
export interface PeerSecurity {
  readonly identity: RouterIdentity
  /** Whether requests on the plain peer port are accepted. */
  readonly acceptPlain: boolean
  readonly peers: readonly PeerRouter[]
}

/** The names under which the upstreams of a deployment and of its canary are listed. Names of deployments have no dots. */
export const poolNames = (name: string) => ({ stable: name, canary: `${name}.canary` })

/** The addresses of replicas on this node to which the router sends requests, by the name of their pool. */
export type Upstreams = ReadonlyMap<string, readonly string[]>

export interface RouterAdmin {
  readUpstreams(): Promise<Upstreams>
  /** Writes the upstreams, which requests use from then on. Also works while the router is down. */
  writeUpstreams(backends: readonly Backend[]): Promise<void>
  /**
   * Serves exactly the routes of these backends, and deletes the upstream files of other deployments. Without `security`,
   * other nodes are reached and accepted by plain HTTP.
   */
  load(backends: readonly Backend[], security?: PeerSecurity): Promise<void>
  /** Whether the peer's router accepts this identity and proves its own. Never rejects. */
  probe(peer: PeerRouter, identity: RouterIdentity): Promise<boolean>
  /** Number of requests in flight by `address:port`; a missing address has no requests. */
  requestsInFlight(): Promise<ReadonlyMap<string, number>>
}

/**
 * Kinds of router errors. `refused`: the configuration was rejected. `unavailable`: no answer, the outcome is unknown.
 */
export type RouterFault = 'refused' | 'unavailable'

export class RouterError extends Error {
  readonly fault: RouterFault

  constructor(fault: RouterFault, message: string) {
    super(message)
    this.name = 'RouterError'
    this.fault = fault
  }
}
