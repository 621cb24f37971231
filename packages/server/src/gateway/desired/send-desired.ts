// The desired set on its way to a node: all of it at first and again each minute, in between what changed. SAFETY 4e. What
// the node is to lead in goes with it, in one message with what changed at the same time: a node that is to stop its replica
// knows by then where the others are.

import {
  type AssignmentId,
  type Complete,
  type Delta,
  type DeploymentUid,
  type DesiredItem,
  isDeploymentUid,
  type NodeId,
  splitTemplates,
} from '@holdfast/contract'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import type { GatewayParts } from '../parts.ts'
import { guardSession } from '../session/guard-session.ts'
import { type Session, send } from '../session/session.ts'
import { type DesiredIndex, itemOf, type Wish } from './desired-index.ts'

/**
 * All that is wished of the node. Where not all of it can be read it is sent as a change, which takes nothing away:
 * what could not be seen must not look as if it were not wished.
 */
export function sendComplete(
  { store, counts, log }: GatewayContext,
  index: DesiredIndex,
  session: Session,
): void {
  const wishes = index.wishesOf(session)
  const items = wishes.map(itemOf).filter((item) => item !== undefined)
  const set = { session: session.epoch, revision: store.revision, ...splitTemplates(items) }
  const routes = allRoutes(index, session)
  if (items.length < wishes.length || !index.isWhole(session.tenant)) {
    log.warn({ nodeId: session.nodeId }, 'a placement cannot be read: the node is sent no complete set')
    if (send(session.socket, { type: 'delta', ...set, gone: [], ...routes })) counts.deltas += 1
    return
  }
  const isWhole = index.routes.isWhole(session.tenant)
  if (send(session.socket, { type: 'complete', ...set, ...(isWhole ? routes : {}) })) counts.completes += 1
  if (isWhole || routes.routes === undefined) return
  log.warn(
    { nodeId: session.nodeId },
    'a deployment cannot be read: the node is told of no route that is gone',
  )
  const nothing = { ...set, items: [], templates: {}, gone: [] }
  if (send(session.socket, { type: 'delta', ...nothing, ...routes })) counts.deltas += 1
}

/** Nothing for a node that does not route: it may be of a version that knows no routes. */
function allRoutes({ routes }: DesiredIndex, session: Session): Pick<Complete, 'routes'> {
  return routes.isRouter(session) ? { routes: routes.routesFor(session) } : {}
}

type Changed = AssignmentId | DeploymentUid

export interface Deltas {
  note(node: NodeAddress, changed: Changed): void
  close(): void
}

/** Changes of one turn of the event loop go out together. */
export function createDeltas(parts: GatewayParts): Deltas {
  const { context, index, held } = parts
  const dirty = new Map<NodeId, Set<Changed>>()
  let planned: NodeJS.Immediate | undefined
  const flush = (): void => {
    planned = undefined
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
      planned ??= setImmediate(flush)
    },
    close: () => clearImmediate(planned),
  }
}

function sendDelta(
  { store, counts }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  changed: ReadonlySet<Changed>,
): void {
  const items: DesiredItem[] = []
  const gone: string[] = []
  for (const id of changed) {
    if (isDeploymentUid(id)) continue
    const wish: Wish | undefined = index.desiredRolloutOf(session, id)
    const item = wish && itemOf(wish)
    if (item !== undefined) items.push(item)
    if (wish !== undefined) continue
    gone.push(id)
    session.reports?.newest.delete(id)
    session.reports?.unwritten.delete(id)
  }
  const set = { session: session.epoch, revision: store.revision, ...splitTemplates(items), gone }
  const delta = { type: 'delta' as const, ...set, ...changedRoutes(index, session, changed) }
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
