// The routes of a tenant's deployments in the agent protocol. See docs/design/routing.md#routes

import { routeShape } from '../api/deployment.ts'
import type { AssignmentId, DeploymentUid } from '../ids.ts'
import { boolean, branded, type Infer, integer, list, object, optional, string } from '../shapes/shape.ts'

/**
 * A deployment with routes, as the server sends it to each node of the tenant. `peers` lists the routers of the other
 * nodes, as `host:port`; the agent already knows the replicas on its own node.
 */
export const routedDeploymentShape = object({
  deployment: branded<DeploymentUid>(),
  name: string(),
  routes: list(routeShape),
  peers: list(string()),
  /** True while the replicas on the receiving node itself count as lost, because its engine has failed. */
  lost: optional(boolean()),
  /** The canary of the deployment; absent if it has none. Its replicas are not among `peers`. */
  canary: optional(
    object({
      /** The share of requests that the canary receives, in percent; 0 if its replicas must not receive any. */
      weight: integer(),
      /** The assignments of the canary, on any node. */
      replicas: list(branded<AssignmentId>()),
      /** The routers of other nodes with a ready replica of the canary, as `host:port`. */
      peers: list(string()),
    }),
  ),
})
export type RoutedDeployment = Infer<typeof routedDeploymentShape>
