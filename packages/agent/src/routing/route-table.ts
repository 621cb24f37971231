// The tenant's routed deployments, built from the server's complete desired sets and changes.

import type { DeploymentUid, RoutedDeployment } from '@holdfast/contract'

export interface RoutesChange {
  readonly complete: boolean
  readonly routes?: readonly RoutedDeployment[]
  readonly unrouted?: readonly string[]
}

export interface RouteTable {
  /** All routed deployments; undefined until a server has sent the routes. */
  all(): readonly RoutedDeployment[] | undefined
  has(deployment: DeploymentUid): boolean
  apply(change: RoutesChange): void
}

export function createRouteTable(): RouteTable {
  const table = new Map<string, RoutedDeployment>()
  let isKnown = false
  return {
    all: () => (isKnown ? [...table.values()] : undefined),
    has: (deployment) => table.has(deployment),
    apply({ complete, routes, unrouted = [] }) {
      // A complete desired set without a list of routes removes no routes.
      if (complete && routes !== undefined) {
        table.clear()
        isKnown = true
      }
      for (const entry of routes ?? []) table.set(entry.deployment, entry)
      for (const deployment of unrouted) table.delete(deployment)
    },
  }
}
