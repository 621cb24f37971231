// Wires the node's routing together: the route table from the server, the containers' addresses, the router, and the two
// points where the rest of the agent waits for the router (draining before a stop, and reporting ready).

import {
  type AssignmentId,
  type DesiredItem,
  defined,
  deploymentUidOf,
  type Observation,
  type RoutedDeployment,
  type TenantRouters,
} from '@holdfast/contract'
import type { ReplicaView } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { Engine } from '../ports/engine.ts'
import type { RouterAdmin, RouterIdentity } from '../ports/router.ts'
import { type Addresses, createAddresses } from './addresses.ts'
import { createDrain, type Drain } from './drain.ts'
import { holdReady } from './hold-ready.ts'
import { localReplicas } from './local-replicas.ts'
import { createPeerRouters, type PeerRouters, type RoutersChange } from './peer-routers.ts'
import { createRouteTable, type RoutesChange } from './route-table.ts'
import { type Router, startRouter } from './router.ts'

export interface RoutingDeps {
  readonly engine: Engine
  /** Admin calls of the node's router; undefined: this node routes nothing. */
  readonly admin: RouterAdmin | undefined
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  view(id: AssignmentId): ReplicaView | undefined
  report(observations: readonly Observation[]): void
  /** The key and certificate of this node's router; undefined: other nodes are reached by plain HTTP. */
  readonly identity?: (() => RouterIdentity) | undefined
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  readonly log: Logger
}

export interface Routing {
  readonly addresses: Addresses
  readonly drain: Drain
  /** Reports observations of the status table. A report of `ready` waits until the router serves the replica. */
  report(observations: readonly Observation[]): void
  apply(change: RoutesChange & RoutersChange): void
  /** The routes and the other routers to save on disk; absent if no server has sent any. */
  saved(): { readonly routes?: readonly RoutedDeployment[]; readonly routers?: TenantRouters }
  /** The engine, wrapped so that each full list of containers also updates the addresses in use. */
  readonly engine: Engine
  close(): void
}

export function startRouting(deps: RoutingDeps): Routing {
  const { engine, admin, desired } = deps
  const table = createRouteTable()
  const peers = deps.identity && createPeerRouters(deps.identity)
  const router = admin === undefined ? undefined : openRouter(deps, admin, table.all, peers)
  const addresses = createAddresses((address) => router?.routedLately(address) ?? false)
  const isRouted = (id: AssignmentId): boolean => {
    const owner = desired.get(id)?.owner
    const deployment = owner && deploymentUidOf(owner)
    return deployment !== undefined && table.has(deployment)
  }
  return {
    addresses,
    drain:
      admin === undefined || router === undefined ? async () => {} : createDrain({ engine, router, admin }),
    report: router === undefined ? deps.report : holdReady(router, isRouted, deps.report),
    apply(change) {
      table.apply(change)
      peers?.apply(change)
      router?.nudge()
    },
    saved: () => defined({ routes: table.all(), routers: peers?.known() }),
    engine: {
      ...engine,
      async listContainers() {
        const listed = await engine.listContainers()
        addresses.setSeen(
          listed.flatMap((container) => container.addresses),
          (holder) => desired.has(holder),
        )
        return listed
      },
    },
    close: () => router?.close(),
  }
}

const openRouter = (
  { desired, view, monotonicMs, log }: RoutingDeps,
  admin: RouterAdmin,
  table: () => readonly RoutedDeployment[] | undefined,
  peers: PeerRouters | undefined,
): Router =>
  startRouter({ admin, table, replicas: () => localReplicas(desired, view), peers, monotonicMs, log })
