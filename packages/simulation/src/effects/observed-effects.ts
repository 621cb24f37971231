// The effects of a change as the stored records show them: the replicas before and after, and the ready ones at every
// moment in between. The rules are stated here again and share no code with the planner.

import {
  type AssignmentId,
  type Effects,
  type NodeId,
  type Owner,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import type { Records } from '../cluster/mirror.ts'
import { isFailed } from '../invariants/nodes/is-failed.ts'

/** The effects in one form for comparing, without reasons. */
export interface ComparedEffects {
  readonly moves: readonly string[]
  readonly restarts: readonly string[]
  readonly stops: readonly string[]
  readonly unplaced: readonly string[]
  readonly lowestReady: readonly string[]
}

export function comparedEffects({ moves, restarts, stops, unplaced, lowestReady }: Effects): ComparedEffects {
  const replaced = ({ deployment, replica, from, to }: Effects['moves'][number]) =>
    `${deployment}/${replica} ${from} -> ${to}`
  return {
    moves: moves.map(replaced).sort(),
    restarts: restarts.map(replaced).sort(),
    stops: stops.map(({ deployment, replica, node }) => `${deployment}/${replica} on ${node}`).sort(),
    unplaced: unplaced.map(({ deployment, replicas }) => `${deployment} ${replicas}`).sort(),
    lowestReady: lowestReady.map(({ deployment, ready }) => `${deployment} ${ready}`).sort(),
  }
}

type Watched = Pick<Records, 'deployments' | 'placements' | 'observations' | 'nodes'>

interface Running {
  readonly id: AssignmentId
  readonly nodeId: NodeId
  readonly templateHash: string
}

export interface Observer {
  /** Notes the ready replicas of this moment. */
  look(): void
  /** The effects since the observer was created. */
  effects(): ComparedEffects
}

export function observeEffects(recordsOf: () => Watched, tenant: TenantId): Observer {
  const first = ofTenant(recordsOf(), tenant)
  const names = new Map(first.nodes.map(({ record }) => [record.id, record.name]))
  const moments = new Map<Owner, Set<string>>()
  const look = (): void => {
    const records = ofTenant(recordsOf(), tenant)
    for (const { record } of records.nodes) names.set(record.id, record.name)
    for (const [owner, ready] of readyOf(records)) {
      const seen = moments.get(owner) ?? new Set()
      moments.set(owner, seen.add(ready.join()))
    }
  }
  look()
  return {
    look,
    effects: () => compare(first, ofTenant(recordsOf(), tenant), moments, (id) => names.get(id) ?? id),
  }
}

const ofTenant = (records: Watched, tenant: TenantId): Watched => ({
  deployments: records.deployments.filter((each) => each.tenant === tenant),
  placements: records.placements.filter((each) => each.tenant === tenant),
  observations: records.observations.filter((each) => each.tenant === tenant),
  nodes: records.nodes.filter((each) => each.tenant === tenant),
})

/** The numbers of the ready replicas of each deployment with a placement. */
function readyOf({ placements, observations, nodes }: Watched): Map<Owner, number[]> {
  const ready = new Set(
    observations
      .filter(({ record }) => record.state === 'ready' && record.reason === '' && !record.gone)
      .map(({ record }) => record.assignmentId),
  )
  const alive = new Set(nodes.filter(({ record }) => !isFailed(record)).map(({ record }) => record.id))
  return new Map(
    placements.map(({ record: { owner, assignments } }) => {
      const serving = assignments.filter(
        ({ id, desired, nodeId }) => desired === 'running' && alive.has(nodeId) && ready.has(id),
      )
      return [owner, [...new Set(serving.map(({ replica }) => replica))].sort((a, b) => a - b)]
    }),
  )
}

function runningIn({ placements }: Watched, owner: Owner): Map<number, Running> {
  const assignments = placements.find(({ record }) => record.owner === owner)?.record.assignments ?? []
  return new Map(
    assignments.filter(({ desired }) => desired === 'running').map((each) => [each.replica, each]),
  )
}

function unplacedIn(records: Watched, owner: Owner): number {
  const deployment = records.deployments.find(
    ({ record }) => ownerOf('deployment', record.uid) === owner,
  )?.record
  if (deployment === undefined || deployment.deleting) return 0
  const placement = records.placements.find(({ record }) => record.owner === owner)?.record
  const running = runningIn(records, owner)
  let missing = 0
  for (let number = 1; number <= deployment.spec.replicas; number += 1) if (!running.has(number)) missing += 1
  return missing === 0 && placement?.shortfall !== undefined ? 1 : missing
}

function compare(
  before: Watched,
  after: Watched,
  moments: ReadonlyMap<Owner, ReadonlySet<string>>,
  nodeName: (id: NodeId) => string,
): ComparedEffects {
  const moves: string[] = []
  const restarts: string[] = []
  const stops: string[] = []
  const unplaced: string[] = []
  const lowestReady: string[] = []
  const known = new Map(
    [...before.deployments, ...after.deployments].map(({ record }) => [
      ownerOf('deployment', record.uid),
      record.spec.name,
    ]),
  )
  for (const [owner, name] of known) {
    const now = runningIn(after, owner)
    let isTouched = false
    for (const [number, old] of runningIn(before, owner)) {
      const next = now.get(number)
      if (next?.id === old.id) continue
      isTouched = true
      if (next === undefined) stops.push(`${name}/${number} on ${nodeName(old.nodeId)}`)
      else {
        const line = `${name}/${number} ${nodeName(old.nodeId)} -> ${nodeName(next.nodeId)}`
        const isMove = next.templateHash === old.templateHash && next.nodeId !== old.nodeId
        if (isMove) moves.push(line)
        else restarts.push(line)
      }
    }
    const [was, is] = [revisionIn(before, owner), revisionIn(after, owner)]
    const without = unplacedIn(after, owner)
    if (without > 0 && (was !== is || without > unplacedIn(before, owner)))
      unplaced.push(`${name} ${without}`)
    if (isTouched) lowestReady.push(`${name} ${lowest(after, owner, moments.get(owner) ?? new Set())}`)
  }
  for (const list of [moves, restarts, stops, unplaced, lowestReady]) list.sort()
  return { moves, restarts, stops, unplaced, lowestReady }
}

const revisionIn = ({ deployments }: Watched, owner: Owner): number | undefined =>
  deployments.find(({ record }) => ownerOf('deployment', record.uid) === owner)?.record.revision

function lowest(after: Watched, owner: Owner, moments: ReadonlySet<string>): number {
  const deployment = after.deployments.find(
    ({ record }) => ownerOf('deployment', record.uid) === owner,
  )?.record
  const desired = deployment === undefined || deployment.deleting ? 0 : deployment.spec.replicas
  const counts = [...moments].map(
    (moment) => moment.split(',').filter((number) => number !== '' && Number(number) <= desired).length,
  )
  return Math.min(...counts)
}
