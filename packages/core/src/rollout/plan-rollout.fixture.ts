// For tests only: a deployment, its agents and its nodes, as far as a plan knows them, moved step by step.

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import type { NodeDisposition, ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import { giveUpLost } from './plan-replicas.ts'
import { planRollout, type RolloutPlan } from './plan-rollout.ts'
import { isServing } from './replica-health.ts'

export type Seen = Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'>
const UNSEEN: Seen = { state: 'assigned', reason: '', restarts: 0, gone: false }
/** Templates of which no replica ever becomes ready. */
export const isBroken = (hash: string): boolean => hash.startsWith('broken')
export const NODES = ['node_1', 'node_2', 'node_3'].map((id) => id as NodeId)
export const DEADLINE_MS = 60_000
export const WATCH_MS = 15_000

export interface World {
  now: number
  wished: DesiredDeployment
  placed: PlacedDeployment
  quota: number
  /** The newest that was stored. */
  revision: number
  readonly dispositions: Map<NodeId, NodeDisposition>
  readonly observed: Map<AssignmentId, Seen>
  made: number
}

export function aWorld(changes: Partial<DesiredDeployment> = {}): World {
  const wished: DesiredDeployment = {
    ...{ replicas: 3, deleting: false, gated: false, stateful: false },
    target: { revision: 1, templateHash: 'one' },
    update: {
      ...{ order: 'start-first', parallelism: 1, failureAction: 'rollback' },
      ...{ progressDeadlineMs: DEADLINE_MS, watchMs: WATCH_MS },
    },
    ...changes,
  }
  return {
    ...{ now: Date.parse('2026-01-01T00:00:00.000Z'), wished, placed: { assignments: [] }, quota: 100 },
    ...{ dispositions: new Map(), observed: new Map(), made: 0, revision: 1 },
  }
}

export const factsOf = (world: World): ReplicaFacts => ({
  dispositionOf: (id) => world.dispositions.get(id) ?? 'staying',
  seen: (id) => world.observed.get(id),
  room: world.quota,
})

export const planOf = (world: World): RolloutPlan =>
  planRollout(world.wished, world.placed, factsOf(world), world.now)

/** Stores a plan; the first `fitting` of what is missing find a node. */
export function commit(world: World, plan: RolloutPlan, fitting = Number.POSITIVE_INFINITY): Assignment[] {
  const open = NODES.filter((id) => factsOf(world).dispositionOf(id) === 'staying')
  const room = Math.max(0, world.quota - plan.kept.length)
  const added = plan.missing.slice(0, open.length === 0 ? 0 : Math.min(fitting, room)).map((missing) => {
    world.made += 1
    const nodeId = open[world.made % open.length] ?? (NODES[0] as NodeId)
    const id = `rep_${world.made}` as AssignmentId
    const assignedAt = new Date(world.now).toISOString()
    return { ...missing, id, nodeId, desired: 'running' as const, assignedAt }
  })
  const { rollout, lastGood } = plan
  world.placed = {
    assignments: [...giveUpLost(plan.kept, added, factsOf(world)), ...added],
    rollout,
    lastGood,
  }
  for (const { id } of plan.dropped) world.observed.delete(id)
  return added
}

export const decide = (world: World): Assignment[] => commit(world, planOf(world))

export function see(world: World, { id }: Assignment, seen: Partial<Seen>): void {
  world.observed.set(id, { ...(world.observed.get(id) ?? UNSEEN), ...seen })
}

/** What a sound agent says next; false when it has no more to say. */
export function obey(world: World, assignment: Assignment): boolean {
  const { state } = world.observed.get(assignment.id) ?? UNSEEN
  const disposition = factsOf(world).dispositionOf(assignment.nodeId)
  if (disposition === 'failed' || disposition === 'absent') return false
  if (assignment.desired === 'removed') see(world, assignment, { state: 'stopped', gone: true })
  else if (state === 'ready') return false
  else if (!isBroken(assignment.templateHash)) see(world, assignment, { state: 'ready', reason: '' })
  else if (world.observed.get(assignment.id)?.reason === 'unhealthy') return false
  else see(world, assignment, { state: 'running', reason: 'unhealthy' })
  return true
}

/** Another revision; the hash is the old one where only the count changes. */
export function put(
  world: World,
  templateHash: string,
  changes: Partial<Omit<DesiredDeployment, 'target'>> = {},
) {
  world.revision += 1
  world.wished = { ...world.wished, ...changes, target: { revision: world.revision, templateHash } }
}

export const running = ({ placed }: World): Assignment[] =>
  placed.assignments.filter(({ desired }) => desired === 'running')

export const servedNumbers = (world: World, assignments: readonly Assignment[]): Set<number> =>
  new Set(
    assignments
      .filter((each) => each.desired === 'running' && isServing(each, factsOf(world)))
      .map(({ replica }) => replica),
  )

/** Decisions, sound agents and time, until nothing changes any more. */
export function settle(world: World): void {
  for (let turn = 0; turn < 400; turn += 1) {
    decide(world)
    const said = world.placed.assignments.filter((each) => obey(world, each))
    const { lookAgainAt, missing } = planOf(world)
    if (said.length > 0 || missing.length > 0) continue
    if (lookAgainAt === undefined) return
    world.now = Math.max(world.now, lookAgainAt)
  }
  throw new Error('it never settles')
}
