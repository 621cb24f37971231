// How the node's Caddy is to be set up, as the command line of the agent says it and as the adapter reads it.

export type RoutesTls =
  | { readonly mode: 'off' }
  | { readonly mode: 'internal' }
  | { readonly mode: 'acme'; readonly directory?: string; readonly email?: string }

export interface CaddySettings {
  /** `:80`, `10.0.0.1:443`. */
  readonly listen: readonly string[]
  /** Where the tenant's other nodes forward to; its port is none of those above. */
  readonly peerListen: string | undefined
  readonly adminSocket: string
  /** Where the files are that say where requests are led. */
  readonly upstreamsFolder: string
  readonly tls: RoutesTls
}
