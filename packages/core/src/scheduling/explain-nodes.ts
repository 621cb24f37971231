// Explains every node of a tenant: all refusals of the node, and its remedy. Nodes that are equal in everything that
// filters and remedies read form a class and share one answer; only amounts of resources and node ids are filled in node
// by node. See docs/design/placement.md#explanations

import type { Capacity, NodeStatus } from '@holdfast/contract'
import { createRefusalFinder, refusalBy, sortedByName } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { namedNode } from './filters/named-node.ts'
import { freeOn, leastFree, resources as resourcesFilter } from './filters/resources.ts'
import { isMet, keyOfValue, labelOf } from './labels.ts'
import { memoizeByObject } from './memoize.ts'
import type { CheckedCandidate, NodeRefusal } from './refusal.ts'
import { costOf, type PricedStep } from './remedies/cost.ts'
import { type Advice, createAdvisor, type Remedy } from './remedies/find-remedies.ts'
import { keyOfLocation, LOCATION } from './remedies/label-steps.ts'
import { resourceSteps } from './remedies/steps.ts'
import { answersResidency } from './residency.ts'

/** Refusals and remedy that several nodes have in common. */
export interface SharedAnswer extends Advice {
  readonly refusals: readonly NodeRefusal[]
  /** The answer of the whole class, whose nodes differ in amounts of resources only. */
  readonly ofClass?: SharedAnswer
}

/**
 * A candidate node with its refusals and remedy as data. Texts are built only when they are read, because most remedies
 * are never read.
 */
export interface ExplainedCandidate extends CheckedCandidate, Advice {
  readonly nodeStatus: NodeStatus
  /** The answer that the node shares. It differs from the node's own only in the node id. */
  readonly shared: SharedAnswer
}

/** The nodes of a tenant at one moment. Later changes of a scheduling view do not affect it. */
export interface NodesAtMoment {
  /** Sorted by name. */
  readonly nodes: readonly NodeFacts[]
  readonly freeCpu: Float64Array
  readonly freeMemory: Float64Array
  /** For each deployment in an affinity rule of the workload, the number of its replicas on each node. */
  readonly replicas: ReadonlyMap<string, Int32Array>
  readonly containers: TenantFacts['containers']
  /** Whether a replica of the workload itself runs on any node. */
  readonly runs: boolean
}

export function captureNodes(workload: Workload, facts: TenantFacts): NodesAtMoment {
  const { name, placement } = workload
  const nodes = facts.byName?.() ?? sortedByName(facts.nodes)
  const names = new Set([...(placement?.affinity ?? []), ...(placement?.antiAffinity ?? [])])
  const [freeCpu, freeMemory] = [new Float64Array(nodes.length), new Float64Array(nodes.length)]
  const replicas = new Map([...names].map((other) => [other, new Int32Array(nodes.length)]))
  let at = 0
  for (const node of nodes) {
    freeCpu[at] = freeOn(node, 'cpuMillis')
    freeMemory[at] = freeOn(node, 'memoryBytes')
    for (const [other, counts] of replicas) counts[at] = node.replicas.get(other) ?? 0
    at += 1
  }
  const runs = facts.runs?.(name) ?? facts.nodes.some((node) => node.replicas.has(name))
  return { nodes, freeCpu, freeMemory, replicas, containers: { ...facts.containers }, runs }
}

/** Runs every filter on every node of the tenant, and finds the remedy of every refused node. Sorted by name. */
export function explainNodes(workload: Workload, facts: TenantFacts): ExplainedCandidate[] {
  return runToEnd(explainInSteps(workload, captureNodes(workload, facts)))
}

export function runToEnd<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The most nodes explained in one step, so that a step takes less than a millisecond. */
const NODES_IN_STEP = 250

/** Explains the nodes step by step, so that a caller can let other work run in between. */
export function* explainInSteps(
  workload: Workload,
  moment: NodesAtMoment,
): Generator<undefined, ExplainedCandidate[]> {
  const answerAt = createAnswers(workload, moment)
  const explained: ExplainedCandidate[] = []
  let at = 0
  for (const node of moment.nodes) {
    if (at % NODES_IN_STEP === NODES_IN_STEP - 1) yield
    explained.push(toExplained(node, answerAt(node, at), workload))
    at += 1
  }
  return explained
}

function toExplained(node: NodeFacts, shared: SharedAnswer, workload: Workload): ExplainedCandidate {
  const { refusals, fixes, remedy } =
    workload.nodeId === undefined || workload.nodeId === node.id ? shared : answerFor(node.id, shared)
  return { nodeId: node.id, nodeName: node.name, nodeStatus: node.status, refusals, fixes, remedy, shared }
}

/** The shared answer with the id of one node, which a refusal by nodeId and its remedy name. */
export function answerFor(nodeId: NodeFacts['id'], { refusals, fixes, remedy }: SharedAnswer): SharedAnswer {
  const named = (steps: readonly PricedStep[]): readonly PricedStep[] =>
    steps.some(namesNode) ? steps.map((step) => (namesNode(step) ? { ...step, nodeId } : step)) : steps
  return {
    refusals: refusals.map((each) => (each.filter === namedNode.name ? { ...each, reported: nodeId } : each)),
    fixes: fixes.map(named),
    remedy: remedy && { ...remedy, steps: named(remedy.steps) },
  }
}

const namesNode = ({ kind }: PricedStep): boolean => kind === 'name_node'

type AnswerAt = (node: NodeFacts, at: number) => SharedAnswer

function createAnswers(workload: Workload, moment: NodesAtMoment): AnswerAt {
  const { freeCpu, freeMemory } = moment
  const { cpuMillis, memoryBytes } = workload.resources
  const [leastCpu, leastMemory] = [leastFree(cpuMillis), leastFree(memoryBytes)]
  const keyOfLabels = createLabelKey(workload)
  const keyOfReplicas = createReplicaKey(workload, moment)
  const compute = createComputation(workload, moment)
  const byRecord = new Map<string, Map<string, AnswersOfClass>>()
  return (node, at) => {
    const [cpu, memory] = [freeCpu[at] ?? 0, freeMemory[at] ?? 0]
    const { capacity } = node
    const lacksCpu = cpu < leastCpu
    const lacksMemory = memory < leastMemory
    const isTooLarge =
      (lacksCpu && cpuMillis > capacity.cpuMillis) || (lacksMemory && memoryBytes > capacity.memoryBytes)
    let key = workload.nodeId === undefined || workload.nodeId === node.id ? '' : 'n'
    if (lacksCpu) key += 'c'
    if (lacksMemory) key += 'm'
    if (isTooLarge) key += 't'
    key += keyOfReplicas(at) + keyOfLabels(node)
    const record = keyOfRecord(node)
    const classes = byRecord.get(record) ?? new Map<string, AnswersOfClass>()
    if (classes.size === 0) byRecord.set(record, classes)
    let known = classes.get(key)
    if (known === undefined) {
      known = { answer: compute.ofClass(factsAt(moment, at)), byAmounts: new Map() }
      classes.set(key, known)
    }
    if (!lacksCpu && !lacksMemory) return known.answer
    const amounts =
      (lacksCpu ? `${cpu}/${capacity.cpuMillis}` : '') +
      (lacksMemory ? `,${memory}/${capacity.memoryBytes}` : '')
    const exact = known.byAmounts.get(amounts)
    if (exact !== undefined) return exact
    const answer = compute.withAmounts(known.answer, factsAt(moment, at))
    known.byAmounts.set(amounts, answer)
    return answer
  }
}

interface AnswersOfClass {
  readonly answer: SharedAnswer
  readonly byAmounts: Map<string, SharedAnswer>
}

const RECORD_KEYS = PLACEMENT_FILTERS.flatMap(({ nodeKey }) => nodeKey ?? [])

/** A text that is equal for two nodes only if no filter distinguishes their records, apart from labels. */
const keyOfRecord = memoizeByObject((node: NodeFacts): string => {
  let key = ''
  for (const nodeKey of RECORD_KEYS) {
    const part = nodeKey(node)
    key += typeof part === 'boolean' ? (part ? '+' : '-') : keyOfValue(part)
  }
  return key
})

/** Distinguishes nodes by labels that the workload refuses. Labels that satisfy it are in no refusal and no remedy. */
function createLabelKey({ residency, placement }: Workload): (node: NodeFacts) => string {
  const byLabel = Map.groupBy(placement?.constraints ?? [], ({ label }) => label)
  const others = [...byLabel].filter(([label]) => !LOCATION.includes(label))
  const ofLocation = LOCATION.flatMap((label) => byLabel.get(label) ?? [])
  return (node) => {
    const { labels } = node
    const isLocated =
      (residency === undefined || answersResidency(residency, node)) &&
      ofLocation.every((each) => isMet(each, labels))
    let key = isLocated ? '' : `@${keyOfLocation(node)}`
    for (const [label, constraints] of others)
      key += constraints.every((each) => isMet(each, labels)) ? '=' : keyOfValue(labelOf(label, labels))
    return key
  }
}

/** Distinguishes nodes by the replicas that affinity rules concern: their number, or only whether there are any. */
function createReplicaKey({ placement }: Workload, { replicas }: NodesAtMoment): (at: number) => string {
  const excluded = placement?.antiAffinity ?? []
  const named = [...replicas].map(([name, counts]) => ({ counts, isCounted: excluded.includes(name) }))
  return (at) => {
    let key = ''
    for (const { counts, isCounted } of named) {
      const count = counts[at] ?? 0
      key += count === 0 ? '.' : isCounted ? `${count} ` : '+'
    }
    return key
  }
}

/** The facts of one node at the moment, as far as filters and remedies of the workload read them. */
function factsAt({ nodes, freeCpu, freeMemory, replicas }: NodesAtMoment, at: number): NodeFacts {
  const node = nodes[at]
  if (node === undefined) throw new RangeError(`there is no node ${at}`)
  const requested: Capacity = {
    cpuMillis: node.capacity.cpuMillis - (freeCpu[at] ?? 0),
    memoryBytes: node.capacity.memoryBytes - (freeMemory[at] ?? 0),
  }
  const running = [...replicas].map(([name, counts]): [string, number] => [name, counts[at] ?? 0])
  return { ...node, requested, replicas: new Map(running.filter(([, count]) => count > 0)) }
}

function createComputation(workload: Workload, { containers, runs }: NodesAtMoment) {
  const facts: TenantFacts = { nodes: [], containers, runs: (name) => name === workload.name && runs }
  const refusalsOf = createRefusalFinder(workload, facts)
  const adviseOn = createAdvisor(workload, facts)
  return {
    ofClass(node: NodeFacts): SharedAnswer {
      const refusals = refusalsOf(node)
      return refusals.length === 0 ? ACCEPTED : { refusals, ...adviseOn(node, refusals) }
    },
    /**
     * The answer of a class with the amounts of one node. Amounts decide neither whether a remedy helps nor which changes
     * it has, so only the refusal and the change for lacking resources are replaced.
     */
    withAmounts(ofClass: SharedAnswer, node: NodeFacts): SharedAnswer {
      const at = ofClass.refusals.findIndex(({ filter }) => filter === resourcesFilter.name)
      const refusal = refusalBy(resourcesFilter, workload, node, facts)
      if (refusal === undefined) throw new Error('a node of this class lacks resources')
      const steps = resourceSteps(workload, node)
      const [before] = ofClass.fixes[at] ?? []
      const { remedy } = ofClass
      return {
        refusals: ofClass.refusals.with(at, refusal),
        fixes: ofClass.fixes.with(at, steps),
        remedy: remedy && withStep(remedy, before, steps),
        ofClass,
      }
    },
  }
}

const ACCEPTED: SharedAnswer = { refusals: [], fixes: [], remedy: undefined }

function withStep({ steps }: Remedy, before: PricedStep | undefined, now: readonly PricedStep[]): Remedy {
  const changed = steps.flatMap((step) => (step === before ? now : [step]))
  return { steps: changed, cost: costOf(changed) }
}
