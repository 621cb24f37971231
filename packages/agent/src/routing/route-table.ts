// The routed deployments of the tenant, as the server told of them last: whole, or what changed.

import type { DeploymentUid, RoutedDeployment } from '@holdfast/contract'

export interface RoutesChange {
  readonly complete: boolean
  readonly routes?: readonly RoutedDeployment[]
  readonly unrouted?: readonly string[]
}

export interface RouteTable {
  /** Undefined until somebody has said what is routed. */
  all(): readonly RoutedDeployment[] | undefined
  has(deployment: DeploymentUid): boolean
  take(change: RoutesChange): void
}

export function createRouteTable(): RouteTable {
  const table = new Map<string, RoutedDeployment>()
  let told = false
  return {
    all: () => (told ? [...table.values()] : undefined),
    has: (deployment) => table.has(deployment),
    take({ complete, routes, unrouted = [] }) {
      // A server that says nothing of routes takes none away.
      if (complete && routes !== undefined) table.clear()
      if (complete && routes !== undefined) told = true
      for (const entry of routes ?? []) table.set(entry.deployment, entry)
      for (const deployment of unrouted) table.delete(deployment)
    },
  }
}
