// Indexes the desired assignments, copies and networks of each node and the routes of each tenant. Derived from the records and
// updated with each change of a record. See docs/design/agent.md#desired-set

import {
  type Assignment,
  type AssignmentId,
  asOwner,
  capabilitiesNeeded,
  DESIRED_STATES,
  type DeploymentUid,
  type DesiredItem,
  type NetworkId,
  type Owner,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { placements, type StoredPlacement, tenants } from '../../store/records.ts'
import { placementAt } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { createRouteTable, type RouteTable } from '../routes/route-table.ts'
import type { RoutersChange } from '../routes/tenant-routers.ts'
import { type CopyIndex, createCopyIndex } from './copy-index.ts'
import { createNetworkIndex, type NetworkIndex } from './network-index.ts'
import type { POOL } from './pool-decisions.ts'
import { createUnreadable } from './unreadable.ts'

/** An assignment together with the placement record that contains it. */
export interface DesiredAssignment {
  readonly tenant: TenantId
  /** The owner in the key of the placement record. */
  readonly placementId: Owner
  readonly placement: StoredPlacement
  readonly assignment: Assignment
}

/** The id of an assignment, routed deployment, volume or network, or the word for the other routers or the node's pool. */
export type Changed = AssignmentId | DeploymentUid | VolumeId | NetworkId | RoutersChange | typeof POOL

/** Called with a node and what was added, changed or removed there. */
export type OnDesiredChange = (node: NodeAddress, changed: Changed) => void

/** Assignments by tenant and node, so that a wrong node id in a record cannot send data to another tenant's node. */
type DesiredByNode = Map<string, Map<AssignmentId, DesiredAssignment>>
const keyOf = ({ tenant, nodeId }: NodeAddress): string => `${tenant}/${nodeId}`

export interface DesiredIndex {
  assignmentOf(node: NodeAddress, assignmentId: AssignmentId): DesiredAssignment | undefined
  assignmentsOf(node: NodeAddress): DesiredAssignment[]
  /** False while a placement of the tenant cannot be read, because the index may then lack assignments. */
  isComplete(tenant: TenantId): boolean
  readonly routes: RouteTable
  readonly copies: CopyIndex
  readonly networks: NetworkIndex
  apply(changes: readonly Change[], onChange: OnDesiredChange): void
}

type IndexStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>

export function createDesiredIndex(store: IndexStore): DesiredIndex {
  const byNode: DesiredByNode = new Map()
  const known = new Map<string, readonly Assignment[]>()
  const unreadable = createUnreadable()

  const update = (tenant: TenantId, placementId: Owner, gone: boolean, onChange: OnDesiredChange): void => {
    const placement = gone ? undefined : store.get(placementAt(tenant, placementId))?.record
    unreadable.note(tenant, placementId, gone || placement !== undefined)
    if (!gone && placement === undefined) return
    const key = `${tenant}/${placementId}`
    const before = known.get(key) ?? []
    const after = placement?.assignments ?? []
    if (placement === undefined) known.delete(key)
    else known.set(key, after)
    const kept = new Set(after.map(({ nodeId, id }) => `${nodeId}/${id}`))
    for (const { nodeId, id } of before) {
      if (!kept.has(`${nodeId}/${id}`) && remove(byNode, { tenant, nodeId }, id))
        onChange({ tenant, nodeId }, id)
    }
    if (placement === undefined) return
    for (const assignment of after) {
      const { nodeId, id } = assignment
      const old = add(byNode, { tenant, placementId, placement, assignment })
      if (old === undefined || isChanged(old.assignment, assignment)) onChange({ tenant, nodeId }, id)
    }
  }

  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(placements, record.id)) update(record.id, asOwner(id), false, () => {})
  const routes = createRouteTable(store, unreadable)
  const copies = createCopyIndex(store)
  const networks = createNetworkIndex(store)
  return {
    assignmentOf: (node, assignmentId) => byNode.get(keyOf(node))?.get(assignmentId),
    assignmentsOf: (node) => [...(byNode.get(keyOf(node))?.values() ?? [])],
    isComplete: unreadable.isComplete,
    routes,
    copies,
    networks,
    apply(changes, onChange) {
      for (const { kind, key } of changes) {
        if (key.folder === placements.folder && key.tenant !== undefined)
          update(key.tenant, asOwner(key.id), kind === 'delete', onChange)
      }
      routes.apply(changes, onChange)
      copies.apply(changes, onChange)
      networks.apply(changes, onChange)
    },
  }
}

/**
 * The assignment in the form that agents receive; undefined if the record lacks its template. The generation is the
 * position of the `desired` state, because the state is all that changes in an assignment, and only to a later state.
 */
export function itemOf({ placement, assignment }: DesiredAssignment): DesiredItem | undefined {
  const { id, templateHash, desired } = assignment
  const template = placement.templates[templateHash]
  if (template === undefined) return undefined
  const generation = generationOf(assignment)
  const needs = capabilitiesNeeded(template)
  const item = { assignmentId: id, owner: placement.owner, generation, templateHash, desired, template }
  return needs.length === 0 ? item : { ...item, needs }
}

export const generationOf = ({ desired }: Pick<Assignment, 'desired'>): number =>
  DESIRED_STATES.indexOf(desired) + 1

const isChanged = (old: Assignment, now: Assignment): boolean =>
  old.desired !== now.desired || old.templateHash !== now.templateHash

function add(byNode: DesiredByNode, added: DesiredAssignment): DesiredAssignment | undefined {
  const { nodeId, id } = added.assignment
  const key = keyOf({ tenant: added.tenant, nodeId })
  const assignments = byNode.get(key) ?? new Map<AssignmentId, DesiredAssignment>()
  byNode.set(key, assignments)
  const old = assignments.get(id)
  assignments.set(id, added)
  return old
}

function remove(byNode: DesiredByNode, node: NodeAddress, id: AssignmentId): boolean {
  const assignments = byNode.get(keyOf(node))
  const found = assignments?.delete(id) ?? false
  if (assignments?.size === 0) byNode.delete(keyOf(node))
  return found
}
