// What an accepted change would recreate, step by step, as a value that prints: the `rollout` of a dry run. DECISIONS 1 and
// 4: the templateHash decides, or a restart. It tells what is known now; whoever runs it looks again at every step.

import type { DeploymentSpec, NodeId, RECREATE_REASONS } from '@holdfast/contract'
import { isStateful } from './plan-rollout-rules.ts'

export interface RunningReplica {
  readonly replica: number
  readonly nodeId: NodeId
  readonly nodeName: string
  readonly templateHash: string
  readonly ready: boolean
}

export interface RolloutFacts {
  readonly spec: Pick<DeploymentSpec, 'replicas' | 'update' | 'volumes'>
  /** Assignments that are to run, as they are placed now. */
  readonly running: readonly RunningReplica[]
  /** Of the changed deployment; undefined until a registry has said what its image is: nothing is recreated before. */
  readonly templateHash: string | undefined
  /** The change is a restart, which is part of the template. */
  readonly restart: boolean
  /** The tenant may have no container more, so nothing can start beside what it replaces. */
  readonly quotaReached: boolean
}

interface RecreatedReplica extends Pick<RunningReplica, 'replica' | 'nodeId' | 'nodeName'> {
  readonly reason: (typeof RECREATE_REASONS)[number]
}

interface RolloutStep {
  /** Recreated side by side. */
  readonly replicas: readonly RecreatedReplica[]
  /** Ready replicas while the step goes on, if every successor becomes ready. */
  readonly lowestReady: number
  readonly text: string
}

export interface RolloutDescription {
  readonly order: DeploymentSpec['update']['order']
  readonly parallelism: number
  readonly lowestReady: number
  /** Empty: nothing is recreated. */
  readonly steps: readonly RolloutStep[]
  readonly summary: string
}

export function describeRollout(facts: RolloutFacts): RolloutDescription {
  const { update, replicas } = facts.spec
  const order = forcedBy(facts) === undefined ? update.order : 'stop-first'
  const { parallelism } = update
  const wished = facts.running.filter(({ replica }) => replica <= replicas)
  const readyNow = new Set(wished.filter(({ ready }) => ready).map(({ replica }) => replica))
  const steps = describeSteps(recreatedOf(facts, wished), { order, parallelism, readyNow })
  const lowestReady = Math.min(readyNow.size, ...steps.map((step) => step.lowestReady))
  return { order, parallelism, lowestReady, steps, summary: summaryOf(facts, steps, order, lowestReady) }
}

/** Why nothing may start beside what it replaces, whatever the spec says. DECISIONS 4, update. */
function forcedBy({ spec, quotaReached }: RolloutFacts): string | undefined {
  if (isStateful(spec)) return 'a volume is mounted read-write'
  return quotaReached ? 'the quota of containers is reached' : undefined
}

/** One for each replica number, lowest first: one that already has a successor of the wished template is not made again. */
function recreatedOf(facts: RolloutFacts, wished: readonly RunningReplica[]): RecreatedReplica[] {
  const { templateHash, restart } = facts
  if (templateHash === undefined) return []
  const isDone = (replica: number) =>
    wished.some((each) => each.replica === replica && each.templateHash === templateHash)
  const newest = new Map(wished.map((each) => [each.replica, each]))
  return [...newest.values()]
    .filter(({ replica }) => !isDone(replica))
    .sort((left, right) => left.replica - right.replica)
    .map(({ replica, nodeId, nodeName }) => ({
      ...{ replica, nodeId, nodeName },
      reason: restart ? 'restart' : 'template_changed',
    }))
}

interface Way {
  readonly order: RolloutDescription['order']
  readonly parallelism: number
  readonly readyNow: ReadonlySet<number>
}

function describeSteps(recreated: readonly RecreatedReplica[], way: Way): RolloutStep[] {
  const ready = new Set(way.readyNow)
  const steps: RolloutStep[] = []
  for (let from = 0; from < recreated.length; from += way.parallelism) {
    const replicas = recreated.slice(from, from + way.parallelism)
    const taken =
      way.order === 'start-first' ? 0 : replicas.filter(({ replica }) => ready.has(replica)).length
    steps.push({ replicas, lowestReady: ready.size - taken, text: stepText(replicas, way.order) })
    for (const { replica } of replicas) ready.add(replica)
  }
  return steps
}

function stepText(replicas: readonly RecreatedReplica[], order: Way['order']): string {
  const [first, ...others] = replicas.map(({ replica, nodeName }) => `${replica} on ${nodeName}`)
  const one = others.length === 0
  const named = one ? `Replica ${first}` : `Replicas ${[first, ...others].join(', ')}`
  if (order === 'stop-first')
    return `${named} ${one ? 'stops' : 'stop'}, then ${one ? 'its' : 'each'} successor starts.`
  return `${one ? 'A successor' : 'Successors'} of ${named.toLowerCase()} ${one ? 'starts' : 'start'}; ${one ? 'it stops' : 'each stops'} once its successor is ready.`
}

function summaryOf(
  facts: RolloutFacts,
  steps: readonly RolloutStep[],
  order: Way['order'],
  lowestReady: number,
): string {
  if (facts.templateHash === undefined)
    return 'No registry has answered for the image yet, so nothing is recreated.'
  if (steps.length === 0) return 'Nothing is recreated.'
  const count = steps.reduce((sum, { replicas }) => sum + replicas.length, 0)
  const cause = facts.spec.update.order === order ? undefined : forcedBy(facts)
  const forced = cause === undefined ? '' : `, since ${cause}`
  const made = `${count === 1 ? '1 replica is' : `${count} replicas are`} recreated`
  const paced = `in ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, ${order}${forced}`
  return `${made} ${paced}; at least ${lowestReady} ready on the way.`
}
