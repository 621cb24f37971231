// What each node is to have: the placement records turned round, from deployments to nodes, and kept up change by change;
// and beside it what the nodes of a tenant are to lead in.

import {
  type Assignment,
  type AssignmentId,
  DESIRED_STATES,
  type DeploymentUid,
  type DesiredItem,
  type TenantId,
} from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { placements, type StoredPlacement, tenants } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { createRouteTable, type RouteTable } from '../routes/route-table.ts'
import { createUnreadable } from './unreadable.ts'

export interface Wish {
  readonly tenant: TenantId
  /** The id under which the placement is kept. */
  readonly placementId: string
  readonly placement: StoredPlacement
  readonly assignment: Assignment
}

/** Told of each assignment whose wish, and of each deployment whose routes are new, others or gone for the node. */
export type OnDesiredChange = (node: NodeAddress, changed: AssignmentId | DeploymentUid) => void

/** By tenant and node: whatever a record says, nothing of one tenant reaches a node of another. */
type DesiredByNode = Map<string, Map<AssignmentId, Wish>>
const keyOf = ({ tenant, nodeId }: NodeAddress): string => `${tenant}/${nodeId}`

export interface DesiredIndex {
  desiredRolloutOf(node: NodeAddress, assignmentId: AssignmentId): Wish | undefined
  wishesOf(node: NodeAddress): Wish[]
  /** A placement of the tenant cannot be read: what is known is then not all there is. */
  isWhole(tenant: TenantId): boolean
  readonly routes: RouteTable
  apply(changes: readonly Change[], onChange: OnDesiredChange): void
}

type IndexStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>

export function createDesiredIndex(store: IndexStore): DesiredIndex {
  const byNode: DesiredByNode = new Map()
  const known = new Map<string, readonly Assignment[]>()
  const unreadable = createUnreadable()

  const take = (tenant: TenantId, placementId: string, gone: boolean, onChange: OnDesiredChange): void => {
    const placement = gone ? undefined : store.get(inTenant(tenant, placements, placementId))?.record
    unreadable.note(tenant, placementId, gone || placement !== undefined)
    if (!gone && placement === undefined) return
    const key = `${tenant}/${placementId}`
    const before = known.get(key) ?? []
    const after = placement?.assignments ?? []
    if (placement === undefined) known.delete(key)
    else known.set(key, after)
    const kept = new Set(after.map(({ nodeId, id }) => `${nodeId}/${id}`))
    for (const { nodeId, id } of before) {
      if (!kept.has(`${nodeId}/${id}`) && forget(byNode, { tenant, nodeId }, id))
        onChange({ tenant, nodeId }, id)
    }
    if (placement === undefined) return
    for (const assignment of after) {
      const { nodeId, id } = assignment
      const old = enter(byNode, { tenant, placementId, placement, assignment })
      if (old === undefined || isOther(old.assignment, assignment)) onChange({ tenant, nodeId }, id)
    }
  }

  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(placements, record.id)) take(record.id, id, false, () => {})
  const routes = createRouteTable(store, unreadable)
  return {
    desiredRolloutOf: (node, assignmentId) => byNode.get(keyOf(node))?.get(assignmentId),
    wishesOf: (node) => [...(byNode.get(keyOf(node))?.values() ?? [])],
    isWhole: unreadable.isWhole,
    routes,
    apply(changes, onChange) {
      for (const { kind, key } of changes) {
        if (key.folder === placements.folder && key.tenant !== undefined)
          take(key.tenant, key.id, kind === 'delete', onChange)
      }
      routes.apply(changes, onChange)
    },
  }
}

/**
 * The item as the agent gets it; undefined where the record lacks its template. An assignment is immutable but for
 * `desired`, which only moves on, so the place of that word is the item's generation.
 */
export function itemOf({ placement, assignment }: Wish): DesiredItem | undefined {
  const { id, templateHash, desired } = assignment
  const template = placement.templates[templateHash]
  if (template === undefined) return undefined
  const generation = generationOf(assignment)
  return { assignmentId: id, deployment: placement.uid, generation, templateHash, desired, template }
}

export const generationOf = ({ desired }: Pick<Assignment, 'desired'>): number =>
  DESIRED_STATES.indexOf(desired) + 1

const isOther = (old: Assignment, now: Assignment): boolean =>
  old.desired !== now.desired || old.templateHash !== now.templateHash

function enter(byNode: DesiredByNode, wish: Wish): Wish | undefined {
  const { nodeId, id } = wish.assignment
  const key = keyOf({ tenant: wish.tenant, nodeId })
  const wishes = byNode.get(key) ?? new Map<AssignmentId, Wish>()
  byNode.set(key, wishes)
  const old = wishes.get(id)
  wishes.set(id, wish)
  return old
}

function forget(byNode: DesiredByNode, node: NodeAddress, id: AssignmentId): boolean {
  const wishes = byNode.get(keyOf(node))
  const found = wishes?.delete(id) ?? false
  if (wishes?.size === 0) byNode.delete(keyOf(node))
  return found
}
