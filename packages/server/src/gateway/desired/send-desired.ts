// Sends the desired set to a node: complete at the start of a session and at each resync, and as deltas in between. A
// message contains changed assignments together with changed routes, so a node that must stop its replica already knows
// the nodes with the other replicas. See docs/design/agent.md#desired-set

import {
  type Complete,
  capabilitiesOf,
  type Delta,
  type DesiredCopy,
  type DesiredItem,
  defined,
  isDeploymentUid,
  isNetworkId,
  isVolumeId,
  JOBS,
  type NodeId,
  PROMISES,
  splitTemplates,
  VOLUMES,
  type VolumeId,
} from '@holdfast/contract'
import { withoutPromises } from '@holdfast/core'
import { epochAddress } from '../../store/epoch.ts'
import { jobs, nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import type { GatewayParts } from '../parts.ts'
import { ROUTERS } from '../routes/tenant-routers.ts'
import { guardSession } from '../session/guard-session.ts'
import { type Session, send } from '../session/session.ts'
import { type Changed, type DesiredAssignment, type DesiredIndex, itemOf } from './desired-index.ts'
import { POOL, poolDecisions } from './pool-decisions.ts'
import { allNetworks, changedNetworks } from './send-networks.ts'

/**
 * Sends the complete desired set to a node. If a record needed for the set cannot be read, sends a delta instead: the
 * agent removes an assignment that a complete set lacks, but not one that a delta lacks.
 */
export function sendComplete(
  { store, counts, log, clock, nextAuthorities = () => [] }: GatewayContext,
  index: DesiredIndex,
  session: Session,
): void {
  const assignments = index.assignmentsOf(session)
  const items = assignments.map(itemOf).filter((item) => item !== undefined)
  const routers = newRouters(index, session, clock.now())
  const numbers = { session: session.epoch, revision: store.revision, ...shownStore(store, session) }
  const set = { ...numbers, ...splitTemplates(items), ...routers }
  const routes = allRoutes(index, session)
  const copies = allCopies(store, index, session)
  const networks = allNetworks(store, index.networks, session)
  if (items.length < assignments.length || !index.isComplete(session.tenant)) {
    log.warn({ nodeId: session.nodeId }, 'placement unreadable, sending a delta instead of the complete set')
    if (send(session.socket, { type: 'delta', ...set, gone: [], ...routes, ...copies, ...networks }))
      counts.deltas += 1
    return
  }
  const whole = {
    ...keptJobLogs(store, session),
    ...announced(nextAuthorities()),
    ...(index.routes.isComplete(session.tenant) ? routes : {}),
    ...(index.copies.isComplete(session.tenant) ? copies : {}),
    ...(index.networks.isComplete(session.tenant) ? networks : {}),
  }
  if (send(session.socket, { type: 'complete', ...set, ...whole })) counts.completes += 1
  // The parts that a complete set must not contain are sent as changes, by which the agent removes nothing.
  const rest = {
    ...(whole.routes === undefined ? routes : {}),
    ...(whole.copies === undefined ? copies : {}),
    ...(whole.networks === undefined ? networks : {}),
  }
  if (Object.keys(rest).length === 0) return
  log.warn(
    { nodeId: session.nodeId },
    'deployment, volume or network unreadable, nothing of it is removed from the node',
  )
  const nothing = { ...set, items: [], templates: {}, gone: [] }
  if (send(session.socket, { type: 'delta', ...nothing, ...rest })) counts.deltas += 1
}

const announced = (roots: readonly string[]): Pick<Complete, 'authorities'> =>
  roots.length === 0 ? {} : { authorities: [...roots] }

/** The epoch of the store. A store that was restored is confirmed by an operator, for all tenants or for one. */
function shownStore(store: GatewayContext['store'], { tenant }: Session): Pick<Complete, 'store'> {
  const found = store.get(epochAddress)?.record
  if (found === undefined) return {}
  const isConfirmed = found.unconfirmed !== true || found.confirmedTenants?.includes(tenant) === true
  return { store: { epoch: found.epoch, ...(isConfirmed ? {} : { unconfirmed: true }) } }
}

/** The attempts of jobs whose logs the node keeps. Omitted while a job cannot be read, so that no log is deleted. */
function keptJobLogs(store: GatewayContext['store'], { tenant, nodeId }: Session): Pick<Complete, 'jobLogs'> {
  const agent = store.get(inTenant(tenant, nodes, nodeId))?.record.agent
  const all = store.list(jobs, tenant)
  if (!capabilitiesOf(agent).includes(JOBS) || all.length < store.keysOf(jobs, tenant).length) return {}
  const here = all.filter(({ record }) => record.nodeId === nodeId)
  return { jobLogs: here.flatMap(({ record }) => record.last ?? []) }
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

/** All copies of a node and its peers. Omitted for an agent that holds no copies. */
function allCopies(
  store: GatewayContext['store'],
  { copies }: DesiredIndex,
  session: Session,
): Pick<Complete, 'copies' | 'peers' | 'offers' | 'wipePool'> {
  const forAgent = copiesFor(store, session)
  if (forAgent === undefined) return {}
  return {
    copies: copies.copiesOf(session).map(forAgent),
    peers: copies.peersOf(session),
    ...poolDecisions(store, session),
  }
}

/** Adapts a copy to the capabilities of the session's agent; undefined if that holds no copies of volumes. */
function copiesFor(
  store: GatewayContext['store'],
  { tenant, nodeId }: Session,
): ((copy: DesiredCopy) => DesiredCopy) | undefined {
  const capabilities = capabilitiesOf(store.get(inTenant(tenant, nodes, nodeId))?.record.agent)
  if (!capabilities.includes(VOLUMES)) return undefined
  return capabilities.includes(PROMISES) ? (copy) => copy : withoutPromises
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
    if (id === ROUTERS || id === POOL || isDeploymentUid(id) || isVolumeId(id) || isNetworkId(id)) continue
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
  const delta = {
    type: 'delta' as const,
    ...set,
    ...changedRoutes(index, session, changed),
    ...changedCopies(store, index, session, changed),
    ...changedPool(store, session, changed),
    ...changedNetworks(store, index.networks, session, changed),
    ...routers,
  }
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

function changedCopies(
  store: GatewayContext['store'],
  { copies: index }: DesiredIndex,
  session: Session,
  changed: ReadonlySet<Changed>,
): Pick<Delta, 'copies' | 'goneCopies' | 'peers'> {
  const ids = [...changed].filter((id) => isVolumeId(id))
  for (const id of ids) if (index.copyOf(session, id) === undefined) forgetReport(session, id)
  const forAgent = ids.length === 0 ? undefined : copiesFor(store, session)
  if (forAgent === undefined) return {}
  const copies = ids.flatMap((id) => index.copyOf(session, id) ?? []).map(forAgent)
  const goneCopies = ids.filter((id) => index.copyOf(session, id) === undefined)
  return {
    ...(copies.length === 0 ? {} : { copies }),
    ...(goneCopies.length === 0 ? {} : { goneCopies }),
    peers: index.peersOf(session),
  }
}

/** The end of an assignment may be the last step before a released node deletes all data of its pool. */
function changedPool(
  store: GatewayContext['store'],
  session: Session,
  changed: ReadonlySet<Changed>,
): Pick<Delta, 'offers' | 'wipePool'> {
  const isClosed = store.get(inTenant(session.tenant, nodes, session.nodeId))?.record.schedulable === false
  return changed.has(POOL) || isClosed ? poolDecisions(store, session) : {}
}

function forgetReport({ copyReports }: Session, id: VolumeId): void {
  copyReports?.newest.delete(id)
  copyReports?.unwritten.delete(id)
}
