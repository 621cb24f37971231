// For tests only: a deployment with its agents and nodes, reduced to the data that rollout planning reads, and advanced
// step by step.

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import type { FailureFacts } from '../node/container-cause.ts'
import type { NodeDisposition, ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import { removeReplacedLost } from './plan-replicas.ts'
import { planRollout, type RolloutPlan } from './plan-rollout.ts'
import { isServing } from './replica-health.ts'

export type Seen = FailureFacts & Pick<Observation, 'restarts' | 'gone'>
const UNSEEN: Seen = { state: 'assigned', reason: '', restarts: 0, gone: false }
/** Whether a template is broken, so that its replicas never become ready. */
export const isBroken = (hash: string): boolean => hash.startsWith('broken')
export const NODES = ['node_1', 'node_2', 'node_3'].map((id) => id as NodeId)
export const DEADLINE_MS = 60_000
export const WATCH_MS = 15_000

export interface World {
  now: number
  desired: DesiredDeployment
  placed: PlacedDeployment
  quota: number
  /** The number of the newest stored revision. */
  revision: number
  readonly dispositions: Map<NodeId, NodeDisposition>
  readonly observed: Map<AssignmentId, Seen>
  created: number
}

export function aWorld(changes: Partial<DesiredDeployment> = {}): World {
  const desired: DesiredDeployment = {
    replicas: 3,
    deleting: false,
    gated: false,
    stateful: false,
    target: { revision: 1, templateHash: 'one' },
    update: {
      order: 'start-first',
      parallelism: 1,
      failureAction: 'rollback',
      progressDeadlineMs: DEADLINE_MS,
      watchMs: WATCH_MS,
    },
    ...changes,
  }
  return {
    now: Date.parse('2026-01-01T00:00:00.000Z'),
    desired,
    placed: { assignments: [] },
    quota: 100,
    dispositions: new Map(),
    observed: new Map(),
    created: 0,
    revision: 1,
  }
}

export const factsOf = (world: World): ReplicaFacts => ({
  dispositionOf: (id) => world.dispositions.get(id) ?? 'staying',
  seen: (id) => world.observed.get(id),
  room: world.quota,
})

export const planOf = (world: World): RolloutPlan =>
  planRollout(world.desired, world.placed, factsOf(world), world.now)

/** Stores a rollout plan. Only the first `fitting` missing replicas find a node. */
export function commit(world: World, plan: RolloutPlan, fitting = Number.POSITIVE_INFINITY): Assignment[] {
  const open = NODES.filter((id) => factsOf(world).dispositionOf(id) === 'staying')
  const room = Math.max(0, world.quota - plan.kept.length)
  const added = plan.missing.slice(0, open.length === 0 ? 0 : Math.min(fitting, room)).map((missing) => {
    world.created += 1
    const nodeId = open[world.created % open.length] ?? (NODES[0] as NodeId)
    const id = `rep_${world.created}` as AssignmentId
    const assignedAt = new Date(world.now).toISOString()
    return { ...missing, id, nodeId, desired: 'running' as const, assignedAt }
  })
  const { rollout, lastGood } = plan
  world.placed = {
    assignments: [...removeReplacedLost(plan.kept, added, factsOf(world)), ...added],
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

/**
 * Applies the next report of a healthy agent about an assignment. Returns false if the agent has nothing new to report.
 */
export function reportNext(world: World, assignment: Assignment): boolean {
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

/** Stores another revision of the deployment. Pass the old template hash to change only the replica count. */
export function put(
  world: World,
  templateHash: string,
  changes: Partial<Omit<DesiredDeployment, 'target'>> = {},
) {
  world.revision += 1
  world.desired = { ...world.desired, ...changes, target: { revision: world.revision, templateHash } }
}

export const running = ({ placed }: World): Assignment[] =>
  placed.assignments.filter(({ desired }) => desired === 'running')

export const servedNumbers = (world: World, assignments: readonly Assignment[]): Set<number> =>
  new Set(
    assignments
      .filter((each) => each.desired === 'running' && isServing(each, factsOf(world)))
      .map(({ replica }) => replica),
  )

/** Repeats decisions and agent reports, and advances the clock, until nothing changes. */
export function settle(world: World): void {
  for (let turn = 0; turn < 400; turn += 1) {
    decide(world)
    const reports = world.placed.assignments.filter((each) => reportNext(world, each))
    const { replanAt, missing } = planOf(world)
    if (reports.length > 0 || missing.length > 0) continue
    if (replanAt === undefined) return
    world.now = Math.max(world.now, replanAt)
  }
  throw new Error('the rollout never settles')
}
