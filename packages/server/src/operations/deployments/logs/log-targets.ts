// Finds the containers of an owner whose logs can be read, including ended containers that still exist.

import {
  type AssignmentId,
  capabilitiesOf,
  KEPT_LOGS,
  type NodeId,
  type Owner,
  type TenantId,
} from '@holdfast/contract'
import { nodes, observations } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'

export interface LogTarget {
  readonly tenant: TenantId
  readonly assignmentId: AssignmentId
  readonly nodeId: NodeId
  readonly node: string
  readonly replica: number
  /** Why the node's agent cannot send the log; absent if it can. */
  readonly refusal?: string
  /** Identifies one start of the container; null if the replica has no container yet. */
  readonly run: string | null
}

export function logTargets(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  owner: Owner,
  replica: number | undefined,
): LogTarget[] {
  const assignments = store.get(placementAt(tenant, owner))?.record.assignments ?? []
  return assignments.flatMap(({ id, nodeId, replica: number }) => {
    const seen = store.get(inTenant(tenant, observations, id))?.record
    if (seen?.gone === true || (replica !== undefined && replica !== number)) return []
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
    const run = seen?.containerId == null ? null : `${seen.containerId} ${seen.startedAt}`
    return [{ tenant, assignmentId: id, nodeId, node, replica: number, run }]
  })
}

/** The assignments of an owner whose last failed run may have a kept log, including those that left the placement. */
export function previousTargets(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  owner: Owner,
  replica: number | undefined,
): LogTarget[] {
  const { assignments = [], formerly = [] } = store.get(placementAt(tenant, owner))?.record ?? {}
  return [...formerly, ...assignments].flatMap(({ id, nodeId, replica: number }) => {
    if (replica !== undefined && replica !== number) return []
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record
    const target = {
      tenant,
      assignmentId: id,
      nodeId,
      node: node?.name ?? nodeId,
      replica: number,
      run: null,
    }
    const isKeeping = capabilitiesOf(node?.agent).includes(KEPT_LOGS)
    return [isKeeping ? target : { ...target, refusal: refusalOf(node?.agent?.version) }]
  })
}

const refusalOf = (version: string | undefined): string =>
  `the agent there (${version === undefined ? 'no version known' : `version ${version}`}) keeps no logs of failed containers; upgrade it`
