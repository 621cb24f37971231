// Settings of the node's Caddy: read from the agent's command line, used by the Caddy adapter.

export type RoutesTls =
  | { readonly mode: 'off' }
  | { readonly mode: 'internal' }
  | { readonly mode: 'acme'; readonly directory?: string; readonly email?: string }

export interface CaddySettings {
  /** Addresses on which the router listens, such as `:80` or `10.0.0.1:443`. */
  readonly listen: readonly string[]
  /** The address to which the tenant's other nodes forward requests; its port differs from those of `listen`. */
  readonly peerListen: string | undefined
  /** The address for requests of other nodes by mutual TLS; absent: plain HTTP only. Its port differs from all others. */
  readonly securePeerListen?: string | undefined
  readonly adminSocket: string
  /** The folder of the upstream files, which list the replicas that Caddy forwards to. */
  readonly upstreamsFolder: string
  readonly tls: RoutesTls
}
