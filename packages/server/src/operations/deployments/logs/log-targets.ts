// Finds the containers of an owner whose logs can be read, including ended containers that still exist.

import {
  type Assignment,
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
  /** True for a replica of a canary; absent for the others. */
  readonly canary?: true
  /** Why the node's agent cannot send the log; absent if it can. */
  readonly refusal?: string
  /** Identifies one start of the container; null if the replica has no container yet. */
  readonly run: string | null
}

/** The replicas whose logs are read; all of them if nothing is set. */
export interface LogFilter {
  readonly replica?: number
  /** Whether only replicas of the canary are read. */
  readonly canary?: boolean
}

type Numbered = Pick<Assignment, 'replica' | 'canary'>

const isAsked = (filter: LogFilter, { replica, canary }: Numbered): boolean =>
  (filter.replica === undefined || filter.replica === replica) && (filter.canary !== true || canary === true)

const numberOf = ({ replica, canary }: Numbered): Pick<LogTarget, 'replica' | 'canary'> =>
  canary === true ? { replica, canary } : { replica }

export function logTargets(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  owner: Owner,
  filter: LogFilter,
): LogTarget[] {
  const assignments = store.get(placementAt(tenant, owner))?.record.assignments ?? []
  return assignments.flatMap((assignment) => {
    const { id, nodeId } = assignment
    const seen = store.get(inTenant(tenant, observations, id))?.record
    if (seen?.gone === true || !isAsked(filter, assignment)) return []
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
    const run = seen?.containerId == null ? null : `${seen.containerId} ${seen.startedAt}`
    return [{ tenant, assignmentId: id, nodeId, node, ...numberOf(assignment), run }]
  })
}

/** The assignments of an owner whose last failed run may have a kept log, including those that left the placement. */
export function previousTargets(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  owner: Owner,
  filter: LogFilter,
): LogTarget[] {
  const { assignments = [], formerly = [] } = store.get(placementAt(tenant, owner))?.record ?? {}
  return [...formerly, ...assignments].flatMap((assignment) => {
    const { id, nodeId } = assignment
    if (!isAsked(filter, assignment)) return []
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record
    const target = {
      tenant,
      assignmentId: id,
      nodeId,
      node: node?.name ?? nodeId,
      ...numberOf(assignment),
      run: null,
    }
    const isKeeping = capabilitiesOf(node?.agent).includes(KEPT_LOGS)
    return [isKeeping ? target : { ...target, refusal: refusalOf(node?.agent?.version) }]
  })
}

const refusalOf = (version: string | undefined): string =>
  `the agent there (${version === undefined ? 'no version known' : `version ${version}`}) keeps no logs of failed containers; upgrade it`
