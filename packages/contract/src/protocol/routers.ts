// The routers of a tenant's nodes in the agent protocol: the certificates by which one router recognizes another. See
// docs/design/routing.md#peer-forwarding

import { boolean, type Infer, list, object, optional, string } from '../shapes/shape.ts'

export const routerShape = object({
  /** The `host:port` for plain HTTP, as in the `peers` of a routed deployment. */
  address: string(),
  /** The `host:port` for mutual TLS; absent if the router of this node cannot be reached by TLS. */
  secureAddress: optional(string()),
  /** Certificates, as base64 of DER, one of which the router presents; empty for a node that stated none. */
  certificates: list(string()),
})
export type TenantRouter = Infer<typeof routerShape>

/** Absent members are unchanged since the last message of the session, or unknown to the server at the moment. */
export const routersShape = object({
  /** Whether a router of the tenant may still forward by plain HTTP, so that the others must accept it. */
  plain: optional(boolean()),
  /** The routers of all other nodes of the tenant. */
  others: optional(list(routerShape)),
})
export type TenantRouters = Infer<typeof routersShape>
