// One decision about one deployment: what its placement record should be, from the records as the cache shows them. Nothing
// is written here; the room that the decision takes is reserved in the tenant's view. DESIGN 4, DECISIONS 4 and 5.

import { hash } from 'node:crypto'
import type { Assignment, NodeId, TenantId } from '@holdfast/contract'
import {
  type CureKind,
  canonicalTemplate,
  containerTemplate,
  deriveStatus,
  type Explanation,
  explainCandidates,
  isUnchanged,
  type Placing,
  planReplicas,
  type ReplicaPlan,
} from '@holdfast/core'
import { workloadOf } from '../../operations/scheduling-facts.ts'
import {
  nodes,
  observations,
  placements,
  type StoredDeployment,
  type StoredPlacement,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { assignmentId } from './assignment-id.ts'
import type { TenantView } from './tenant-view.ts'

export interface Decision {
  /** The records are as they should be: there is nothing to write. */
  readonly settled: boolean
  readonly stored: StoredDeployment
  readonly before: StoredPlacement | undefined
  /** The modification revision of `before`, 0 where there is none. */
  readonly decidedOn: number
  /** Undefined: the deployment is being deleted and nothing of it is left. */
  readonly next: StoredPlacement | undefined
  readonly added: readonly Assignment[]
  readonly dropped: readonly Assignment[]
  /** Nodes whose record decided something: they are compared at commit. */
  readonly nodeIds: ReadonlySet<NodeId>
  /** Where a replica fits nowhere. */
  readonly refused: Explanation | undefined
  readonly cures: readonly CureKind[]
  readonly status: ReturnType<typeof deriveStatus>
}

export interface DecideDeps {
  readonly store: Pick<Store, 'get'>
  readonly tenant: TenantId
  readonly view: TenantView
  /** What a record writes as the time of now. */
  readonly now: string
}

/** A transaction compares each node that it decides on, and holds 120 compares at the most (SAFETY 4a). */
const NODES_AT_ONCE = 100

export function decidePlacement(deps: DecideDeps, stored: StoredDeployment): Decision {
  const { store, tenant, view } = deps
  const found = store.get(inTenant(tenant, placements, stored.uid))
  const before = found?.record
  const decidedOn = found?.modRevision ?? 0
  const assignments = before?.assignments ?? []
  const plan = planReplicas({ replicas: stored.spec.replicas, deleting: stored.deleting }, assignments, {
    isGone: (id) => store.get(inTenant(tenant, observations, id))?.record.gone === true,
    isLost: (id) => store.get(inTenant(tenant, nodes, id)) === undefined,
    isLeaving: (id) => view.isLeaving(id),
    isReady: (id) => {
      const seen = store.get(inTenant(tenant, observations, id))?.record
      return seen?.state === 'ready' && seen.reason === ''
    },
  })
  const { name, resources } = stored.spec
  view.reserve(stored.uid, { name, resources, assignments: plan.kept }, decidedOn)
  const placing = placeMissing(deps, stored, plan)
  const added = newAssignments(deps, stored, plan, placing, decidedOn)
  const refused = placing.unplaced > 0 ? explainCandidates(placing.candidates) : undefined
  const made = { stored, before, decidedOn, added, dropped: plan.dropped, refused, cures: placing.cures }
  const { next, status } = nextPlacement(deps, made, plan)
  const settled = added.length === 0 && isUnchanged(plan, assignments) && sameStory(before, next)
  if (settled) view.release(stored.uid)
  else view.reserve(stored.uid, { name, resources, assignments: next?.assignments ?? [] }, decidedOn)
  // Whoever moves because the node is given up must still be given up: a release can be taken back.
  const moved = plan.kept.filter((each) => view.isLeaving(each.nodeId) && !assignments.includes(each))
  const nodeIds = new Set([...added, ...plan.dropped, ...moved].map(({ nodeId }) => nodeId))
  return { ...made, settled, next, status, nodeIds }
}

const NOTHING_PLACED: Placing = { placed: [], unplaced: 0, candidates: [], cures: [] }

/** Until a registry has said what the image is, nothing is placed (DECISIONS 3). */
function placeMissing(deps: DecideDeps, { spec, digest }: StoredDeployment, plan: ReplicaPlan): Placing {
  const room = NODES_AT_ONCE - new Set(plan.dropped.map(({ nodeId }) => nodeId)).size
  const count = Math.min(plan.missing.length, Math.max(0, room))
  if (digest === null || count === 0) return NOTHING_PLACED
  return deps.view.scheduling.place(workloadOf(deps.store, deps.tenant, spec), count)
}

/** Only new ones get the template of now: what runs stays as it is until an update replaces it. */
function newAssignments(
  { now }: DecideDeps,
  { uid, spec, digest, revision }: StoredDeployment,
  { missing }: ReplicaPlan,
  { placed }: Placing,
  decidedOn: number,
): Assignment[] {
  if (digest === null || placed.length === 0) return []
  const templateHash = hash('sha256', canonicalTemplate(spec, digest), 'hex')
  return placed.flatMap((nodeId, index) => {
    const replica = missing[index]
    if (replica === undefined) return []
    const id = assignmentId(uid, replica, decidedOn)
    return [{ id, replica, nodeId, revision, templateHash, desired: 'running' as const, assignedAt: now }]
  })
}

type Made = Pick<Decision, 'stored' | 'before' | 'added' | 'refused'>

function nextPlacement(
  { store, tenant }: DecideDeps,
  { stored, before, added, refused }: Made,
  { kept }: ReplicaPlan,
): Pick<Decision, 'next' | 'status'> {
  const assignments = [...kept, ...added]
  const shortfall = refused && { reason: reasonOf(refused), summary: refused.summary }
  const placed = { assignments, shortfall, ranRevision: before?.ranRevision }
  const { uid, revision, deleting, digest, spec } = stored
  const status = deriveStatus(spec, {
    ...{ deleting, revision, placed },
    imageDigest: digest,
    observed: (id) => store.get(inTenant(tenant, observations, id))?.record,
  })
  if (assignments.length === 0 && (deleting || (before === undefined && refused === undefined)))
    return { next: undefined, status }
  const ranRevision = status.phase === 'Running' ? revision : before?.ranRevision
  const next: StoredPlacement = {
    ...{ v: 1, uid, name: spec.name, revision, assignments },
    everAssigned: before?.everAssigned === true || added.length > 0,
    templates: templatesOf(stored, before, assignments),
    toldRefusals: refused === undefined ? '' : hash('sha256', refused.canonical, 'hex').slice(0, 32),
    toldPhase: status.phase,
    ...(shortfall === undefined ? {} : { shortfall }),
    ...(ranRevision === undefined ? {} : { ranRevision }),
  }
  return { next, status }
}

/** The quota alone stands in the way where a node refuses for nothing else. */
function reasonOf({ candidates }: Explanation): string {
  const byQuota = candidates.some(
    ({ refusals }) => refusals.length > 0 && refusals.every(({ filter }) => filter === 'quota'),
  )
  return byQuota ? 'quota_reached' : 'unschedulable'
}

function templatesOf(
  { spec, digest }: StoredDeployment,
  before: StoredPlacement | undefined,
  assignments: readonly Assignment[],
): StoredPlacement['templates'] {
  const templates: { [hash: string]: StoredPlacement['templates'][string] } = {}
  for (const { templateHash } of assignments) {
    const template = before?.templates[templateHash] ?? (digest && containerTemplate(spec, digest))
    if (template) templates[templateHash] ??= template
  }
  return templates
}

/** Beside the assignments: is there anything that the record does not say yet? */
function sameStory(before: StoredPlacement | undefined, next: StoredPlacement | undefined): boolean {
  if (before === undefined || next === undefined) return before === next
  return (
    before.revision === next.revision &&
    before.toldRefusals === next.toldRefusals &&
    before.toldPhase === next.toldPhase &&
    before.ranRevision === next.ranRevision &&
    before.shortfall?.reason === next.shortfall?.reason
  )
}
