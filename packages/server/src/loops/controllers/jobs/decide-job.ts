// Decides everything about one job at one moment: the next state of its record, its placement and its events. Reads the
// cache only; the caller compares the records that the decision relies on.

import { hash } from 'node:crypto'
import {
  type Assignment,
  type ContainerTemplate,
  canonicalJson,
  defined,
  isFinalPhase,
  type JobId,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import {
  isEndKnown,
  type JobState,
  jobTemplate,
  type NextJob,
  nextJob,
  startAttempt,
  startTimeoutOf,
  workloadSpec,
} from '@holdfast/core'
import { attemptId, type Placing, sizesInMemory } from '@holdfast/core/placement'
import { jobWorkload } from '../../../scheduling/job-workload.ts'
import { jobs, observations, type StoredJob, type StoredPlacement } from '../../../store/records.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { Controller, KnownTenant } from '../controller.ts'
import { volumeAt } from '../placement/placement-snapshot.ts'
import { currentPins } from './job-pins.ts'

export interface DecidedJob {
  /** Undefined if the job was deleted and only containers are left. */
  readonly before: StoredJob | undefined
  readonly after: StoredJob | undefined
  readonly placement: StoredPlacement | undefined
  /** Undefined if no container is left. */
  readonly next: StoredPlacement | undefined
  /** The attempt that starts now. */
  readonly started: Assignment | undefined
  /** Whether the container of an attempt on a lost node may still run. */
  readonly isLost: boolean
  readonly placementRevision: number
  readonly wakeAt: number | undefined
  /** Set if no node accepts the next attempt. */
  readonly refused: Placing | undefined
}

export function decideJob(
  controller: Controller,
  known: KnownTenant,
  tenant: TenantId,
  id: JobId,
): DecidedJob | undefined {
  const { store, clock } = controller.deps
  const before = store.get(inTenant(tenant, jobs, id))?.record
  const found = store.get(placementAt(tenant, ownerOf('job', id)))
  if (before === undefined && found === undefined) return undefined
  const assignments = found?.record.assignments ?? []
  const factsOf = ({ id: assignmentId, nodeId }: Assignment) => ({
    seen: store.get(inTenant(tenant, observations, assignmentId))?.record,
    node: known.view.dispositionOf(nodeId),
  })
  const next = nextJob(before ?? ENDED, {
    spec: before?.spec ?? ENDED_SPEC,
    assignments,
    factsOf,
    createdAt: Date.parse(before?.createdAt ?? ''),
    isResolved: typeof before?.digest === 'string',
    now: clock.now(),
  })
  const base = { before, placement: found?.record, placementRevision: found?.modRevision ?? 0 }
  const started = before && next.mayStart ? start(controller, known, tenant, before, next) : undefined
  const assigned = started?.assignment
  const after = before && stored(before, started?.state ?? next.state, started)
  const all = assigned === undefined ? next.assignments : [...next.assignments, assigned]
  const templates = { ...found?.record.templates, ...started?.template }
  return {
    ...base,
    after,
    next: nextPlacement(id, base, all, templates),
    started: assigned,
    isLost: next.assignments.map(factsOf).some((facts) => facts.node === 'failed' && !isEndKnown(facts)),
    wakeAt: started === undefined ? next.wakeAt : started.wakeAt,
    refused: started?.refused,
  }
}

/** The state of a job whose record is gone: its containers are removed. */
const ENDED: JobState = {
  ...{ phase: 'failed', reason: '', cancelled: true, attempts: 0, failures: 0 },
  ...{ nodeId: null, startedAt: null, finishedAt: null, exitCode: null },
}
const ENDED_SPEC = { timeout: '1s', retries: 0, onNodeLoss: 'wait' } as const

interface Started {
  readonly state: JobState
  readonly assignment?: Assignment
  readonly template?: { readonly [hash: string]: ContainerTemplate }
  readonly pins?: StoredJob['pins']
  readonly nodeName?: string
  readonly wakeAt?: number | undefined
  readonly refused?: Placing
  readonly unplaced: string
}

/** Chooses a node for the next attempt. */
function start(
  { deps: { store, clock, residency } }: Controller,
  { view }: KnownTenant,
  tenant: TenantId,
  job: StoredJob,
  { state }: NextJob,
): Started {
  const placing = view.scheduling.place(jobWorkload(store, tenant, job, residency), 1)
  const [nodeId] = placing.placed
  if (nodeId === undefined) {
    const unplaced = placing.explanation?.summary ?? 'No node of the tenant accepts the job.'
    return { state: { ...state, reason: 'unschedulable' }, refused: placing, unplaced }
  }
  const pins = currentPins(store, tenant, job)
  const sizes = sizesInMemory({ volumeOf: (id) => volumeAt(store, tenant, id) }, workloadSpec(job.spec))
  const template = jobTemplate(job.spec, job.digest ?? '', pins, sizes)
  const templateHash = hash('sha256', canonicalJson({ ...template }), 'hex')
  const owner = ownerOf('job', job.id)
  const attempt = state.attempts + 1
  const assignment: Assignment = {
    id: attemptId(owner, attempt, (text) => hash('sha256', text, 'hex')),
    ...{ replica: attempt, nodeId, revision: 1, templateHash, desired: 'running' },
    assignedAt: new Date(clock.now()).toISOString(),
  }
  const deadline = clock.now() + startTimeoutOf(job.spec)
  return {
    state: startAttempt(state, assignment, deadline),
    ...{ assignment, template: { [templateHash]: template }, wakeAt: deadline, unplaced: '' },
    ...defined({ pins }),
    nodeName: view.nodeOf(nodeId)?.name ?? nodeId,
  }
}

/** The record of the next state, or the record before if nothing has changed. */
function stored(before: StoredJob, state: JobState, started: Started | undefined): StoredJob {
  const { current: _c, retryAt: _r, deadlineAt: _d, ...kept } = before
  const { current, retryAt, deadlineAt, previous, ...others } = state
  const isOver = isFinalPhase(state.phase)
  const after: StoredJob = {
    ...kept,
    ...picked(others),
    ...defined({ current, retryAt, deadlineAt, previous, last: current ?? before.last }),
    ...defined({ pins: started?.pins }),
    nodeName: started?.nodeName ?? before.nodeName,
    unplaced: started?.unplaced ?? (state.reason === 'unschedulable' ? before.unplaced : ''),
    slot: isOver ? null : before.slot,
  }
  return canonicalJson({ ...after }) === canonicalJson({ ...before })
    ? before
    : { ...after, revision: before.revision + 1 }
}

/** The members of a state, without others that the given record may have. */
const picked = ({
  phase,
  reason,
  cancelled,
  attempts,
  failures,
  nodeId,
  startedAt,
  finishedAt,
  exitCode,
}: Omit<JobState, 'current' | 'retryAt' | 'deadlineAt' | 'previous'>) => ({
  ...{ phase, reason, cancelled, attempts, failures, nodeId, startedAt, finishedAt, exitCode },
})

function nextPlacement(
  id: JobId,
  { before, placement }: Pick<DecidedJob, 'before' | 'placement'>,
  assignments: readonly Assignment[],
  templates: { readonly [hash: string]: ContainerTemplate },
): StoredPlacement | undefined {
  if (assignments.length === 0) return undefined
  const isSame =
    placement !== undefined &&
    assignments.length === placement.assignments.length &&
    assignments.every((each, at) => each === placement.assignments[at])
  if (isSame) return placement
  const used = new Set(assignments.map(({ templateHash }) => templateHash))
  const resources = before?.spec.resources ?? placement?.resources
  return {
    ...placement,
    ...{ v: 1, owner: ownerOf('job', id), name: before?.spec.name ?? placement?.name ?? '', revision: 1 },
    ...{ everAssigned: true, reportedRefusals: '', reportedPhase: '' },
    assignments: [...assignments],
    templates: Object.fromEntries(Object.entries(templates).filter(([key]) => used.has(key))),
    ...defined({ resources }),
  }
}

/** The nodes whose absence, failure or choice the decision relies on. */
export const nodesToCompare = ({ placement, started }: DecidedJob): NodeId[] => [
  ...new Set([...(placement?.assignments ?? []), ...(started ? [started] : [])].map(({ nodeId }) => nodeId)),
]
