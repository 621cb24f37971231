// Which of the nodes that have replicas of a deployment may not have them any more, and is there another that takes them? A
// node's labels may have changed, or the demands of the deployment: both are judged by what is stored now. The labels of a node
// that is silent are its last ones. SPEC 2.7, DECISIONS 7.

import { hash } from 'node:crypto'
import type { Assignment, NodeId, Refusal } from '@holdfast/contract'
import {
  displacedDisposition,
  isHeard,
  isStateful,
  type NodeDisposition,
  type Placing,
  stillQualifies,
  type Workload,
} from '@holdfast/core'
import type { StoredDeployment } from '../../store/records.ts'
import type { TenantView } from './tenant-view.ts'

export interface Displacement {
  /** What is asked of a node, by name or by its labels, as a hash; undefined where nothing is. */
  readonly demands: string | undefined
  /** Why each node that has a replica of the deployment no longer qualifies for it. */
  readonly refusals: ReadonlyMap<NodeId, Refusal>
  /** Of those nodes, for this deployment. */
  readonly dispositions: ReadonlyMap<NodeId, NodeDisposition>
  /** The answer of all nodes, where none takes what has to go. */
  readonly nowhere: Placing | undefined
}

const NOBODY = { refusals: new Map(), dispositions: new Map(), nowhere: undefined }

/** Stopped, or replaced, by one decision: a transaction compares each node that they leave (SAFETY 4a); the others follow. */
export const DISPLACED_AT_ONCE = 25

interface Question extends Omit<Asked, 'assignments'> {
  /** Asked only where the deployment demands anything. */
  current(): readonly Assignment[]
}

interface Asked {
  readonly view: TenantView
  readonly stored: StoredDeployment
  readonly workload: Workload
  /** Those that are not over. */
  readonly assignments: readonly Assignment[]
  /** The revision of the placement that they are from. */
  readonly decidedOn: number
  /** Nothing new may be made for the time being. */
  readonly gated: boolean
}

export function findDisplaced(question: Question): Displacement {
  const { stored, workload } = question
  if (stored.deleting || demandsNothing(workload)) return { ...NOBODY, demands: undefined }
  const demands = demandsOf(workload)
  const asked: Asked = { ...question, assignments: question.current() }
  const refusals = refusalsOf(asked)
  if (refusals.size === 0) return { ...NOBODY, demands }
  const affected = withoutSuccessor(asked, refusals)
  const placing = affected && placeElsewhere(asked, affected)
  const open = placing === undefined || placing.unplaced === 0
  const nowhere = open ? undefined : placing
  return { demands, refusals, dispositions: dispositionsOf(asked, refusals, open), nowhere }
}

const demandsNothing = ({ residency, placement, nodeId }: Workload): boolean =>
  residency === undefined && placement?.constraints === undefined && nodeId === undefined

/** With what a region covers by now: that is configuration, and changes as well. */
function demandsOf({ residency, placement, nodeId }: Workload): string {
  const asked = JSON.stringify([residency ?? null, placement?.constraints ?? null, nodeId ?? null])
  return hash('sha256', asked, 'hex').slice(0, 16)
}

function dispositionsOf(
  { view, stored, assignments, gated }: Asked,
  refusals: Displacement['refusals'],
  open: boolean,
): Map<NodeId, NodeDisposition> {
  const dispositions = new Map<NodeId, NodeDisposition>()
  const way = { open, gated, stateful: isStateful(stored.spec) }
  const inUse = new Set(assignments.filter(isRunning).map(({ nodeId }) => nodeId))
  let barred = 0
  for (const [id, refusal] of refusals) {
    if (!isHeard(view.dispositionOf(id))) continue
    const disposition = displacedDisposition(refusal, way)
    if (disposition === 'barred' && inUse.has(id)) barred += 1
    dispositions.set(id, barred > DISPLACED_AT_ONCE ? 'stranded' : disposition)
  }
  return dispositions
}

export const isRunning = ({ desired }: Pick<Assignment, 'desired'>): boolean => desired === 'running'

function refusalsOf({ view, workload, assignments }: Asked): Map<NodeId, Refusal> {
  const refusals = new Map<NodeId, Refusal>()
  for (const nodeId of new Set(assignments.map((each) => each.nodeId))) {
    const node = view.nodeOf(nodeId)
    const refusal = node && stillQualifies(workload, node)
    if (refusal !== undefined) refusals.set(nodeId, refusal)
  }
  return refusals
}

/** The first that must go and whose number has nothing yet where it may be. What is on its way out needs a place as well. */
function withoutSuccessor(
  { view, stored, assignments }: Asked,
  refusals: ReadonlyMap<NodeId, Refusal>,
): Assignment | undefined {
  const standsWell = ({ nodeId, desired }: Assignment): boolean =>
    desired === 'running' && !refusals.has(nodeId) && isHeard(view.dispositionOf(nodeId))
  const well = new Set(assignments.filter(standsWell).map(({ replica }) => replica))
  return assignments.find(
    ({ replica, nodeId }) =>
      replica <= stored.spec.replicas &&
      refusals.has(nodeId) &&
      !well.has(replica) &&
      isHeard(view.dispositionOf(nodeId)),
  )
}

/** As if it were gone; it is counted again before anybody else asks. */
function placeElsewhere(
  { view, stored, workload, assignments, decidedOn }: Asked,
  { nodeId }: Assignment,
): Placing {
  const { name, resources } = workload
  const { scheduling } = view
  view.reserve(stored.uid, { name, resources, assignments }, decidedOn)
  scheduling.applyReleased(nodeId, name, resources)
  const placing = scheduling.place(workload, 1)
  scheduling.applyAssigned(nodeId, name, resources)
  return placing
}
