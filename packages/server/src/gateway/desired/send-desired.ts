// Sends the desired set to a node: complete at the start of a session and at each resync, and as deltas in between. A
// message contains changed assignments together with changed routes, so a node that must stop its replica already knows
// the nodes with the other replicas. See docs/design/agent.md#desired-set

import {
  type Complete,
  type Delta,
  type DesiredItem,
  defined,
  isDeploymentUid,
  type NodeId,
  splitTemplates,
} from '@holdfast/contract'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import type { GatewayParts } from '../parts.ts'
import { ROUTERS } from '../routes/tenant-routers.ts'
import { guardSession } from '../session/guard-session.ts'
import { type Session, send } from '../session/session.ts'
import { type Changed, type DesiredAssignment, type DesiredIndex, itemOf } from './desired-index.ts'

/**
 * Sends the complete desired set to a node. If a record needed for the set cannot be read, sends a delta instead: the
 * agent removes an assignment that a complete set lacks, but not one that a delta lacks.
 */
export function sendComplete(
  { store, counts, log, clock }: GatewayContext,
  index: DesiredIndex,
  session: Session,
): void {
  const assignments = index.assignmentsOf(session)
  const items = assignments.map(itemOf).filter((item) => item !== undefined)
  const routers = newRouters(index, session, clock.now())
  const set = { session: session.epoch, revision: store.revision, ...splitTemplates(items), ...routers }
  const routes = allRoutes(index, session)
  if (items.length < assignments.length || !index.isComplete(session.tenant)) {
    log.warn({ nodeId: session.nodeId }, 'placement unreadable, sending a delta instead of the complete set')
    if (send(session.socket, { type: 'delta', ...set, gone: [], ...routes })) counts.deltas += 1
    return
  }
  const isComplete = index.routes.isComplete(session.tenant)
  if (send(session.socket, { type: 'complete', ...set, ...(isComplete ? routes : {}) })) counts.completes += 1
  if (isComplete || routes.routes === undefined) return
  log.warn({ nodeId: session.nodeId }, 'deployment unreadable, no route is removed from the node')
  const nothing = { ...set, items: [], templates: {}, gone: [] }
  if (send(session.socket, { type: 'delta', ...nothing, ...routes })) counts.deltas += 1
}

/** All routes of a node. Omitted for a node without a router, because an old agent may not know the field `routes`. */
function allRoutes({ routes }: DesiredIndex, session: Session): Pick<Complete, 'routes'> {
  return routes.isRouter(session) ? { routes: routes.routesFor(session) } : {}
}

/**
 * The other routers of the tenant for a node whose router uses mutual TLS. The list is long, so a session receives it only
 * when it has changed.
 */
function newRouters({ routes }: DesiredIndex, session: Session, nowMs: number): Pick<Complete, 'routers'> {
  const routers = routes.routersFor(session, nowMs)
  if (routers?.others === undefined) return defined({ routers })
  const text = JSON.stringify(routers.others)
  const isKnown = session.sentRouters === text
  session.sentRouters = text
  return { routers: isKnown ? defined({ plain: routers.plain }) : routers }
}

export interface Deltas {
  note(node: NodeAddress, changed: Changed): void
  close(): void
}

/** Collects the changes of one event-loop iteration and then sends one delta to each node with changes. */
export function createDeltas(parts: GatewayParts): Deltas {
  const { context, index, held } = parts
  const dirty = new Map<NodeId, Set<Changed>>()
  let scheduled: NodeJS.Immediate | undefined
  const flush = (): void => {
    scheduled = undefined
    for (const [nodeId, ids] of dirty) {
      const session = held.all.get(nodeId)
      if (session?.socket !== undefined)
        guardSession(parts, session, () => sendDelta(context, index, session, ids))
    }
    dirty.clear()
  }
  return {
    note({ tenant, nodeId }, changed) {
      if (held.all.get(nodeId)?.tenant !== tenant) return
      const ids = dirty.get(nodeId) ?? new Set<Changed>()
      dirty.set(nodeId, ids.add(changed))
      scheduled ??= setImmediate(flush)
    },
    close: () => clearImmediate(scheduled),
  }
}

function sendDelta(
  { store, counts, clock }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  changed: ReadonlySet<Changed>,
): void {
  const items: DesiredItem[] = []
  const gone: string[] = []
  for (const id of changed) {
    if (id === ROUTERS || isDeploymentUid(id)) continue
    const assigned: DesiredAssignment | undefined = index.assignmentOf(session, id)
    const item = assigned && itemOf(assigned)
    if (item !== undefined) items.push(item)
    if (assigned !== undefined) continue
    gone.push(id)
    session.reports?.newest.delete(id)
    session.reports?.unwritten.delete(id)
  }
  const set = { session: session.epoch, revision: store.revision, ...splitTemplates(items), gone }
  const routers = changed.has(ROUTERS) ? newRouters(index, session, clock.now()) : {}
  const delta = { type: 'delta' as const, ...set, ...changedRoutes(index, session, changed), ...routers }
  if (send(session.socket, delta)) counts.deltas += 1
}

function changedRoutes(
  { routes: table }: DesiredIndex,
  session: Session,
  changed: ReadonlySet<Changed>,
): Pick<Delta, 'routes' | 'unrouted'> {
  const uids = table.isRouter(session) ? [...changed].filter(isDeploymentUid) : []
  const routes = uids.flatMap((uid) => table.routeFor(session, uid) ?? [])
  const unrouted = uids.filter((uid) => table.routeFor(session, uid) === null)
  return {
    ...(routes.length === 0 ? {} : { routes }),
    ...(unrouted.length === 0 ? {} : { unrouted }),
  }
}
