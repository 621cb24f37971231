// Explains every node of a tenant: all refusals of the node, and its remedy. Nodes that are equal in everything that
// filters and remedies read form a class and share one answer; only amounts of resources and node ids are filled in node
// by node. See docs/design/placement.md#explanations

import type { NodeStatus } from '@holdfast/contract'
import { createRefusalFinder, refusalBy } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { mayReturn } from './filters/control-plane-node.ts'
import { keyOfCreation } from './filters/creation.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { namedNode } from './filters/named-node.ts'
import { keyOfNetworks } from './filters/network-node.ts'
import { leastFree, resources as resourcesFilter } from './filters/resources.ts'
import { keyOfCopies } from './filters/volume-primary.ts'
import { isMet, keyOfValue, labelOf } from './labels.ts'
import { memoizeByObject } from './memoize.ts'
import { captureNodes, createMatcher, factsAt, type NodesAtMoment, requestedAt } from './nodes-at-moment.ts'
import type { CheckedCandidate, NodeRefusal } from './refusal.ts'
import { costOf, type PricedStep } from './remedies/cost.ts'
import { type Advice, createAdvisor, type Remedy } from './remedies/find-remedies.ts'
import { keyOfLocation, LOCATION } from './remedies/label-steps.ts'
import { resourceSteps } from './remedies/steps.ts'
import { answersResidency } from './residency.ts'

/** Refusals and remedy that several nodes have in common. */
export interface SharedAnswer extends Advice {
  readonly refusals: readonly NodeRefusal[]
  /** A text that is equal for answers with the same reasons, whatever the nodes report. */
  readonly reasons: string
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

/** Runs every filter on every node of the tenant, and finds the remedy of every refused node. Sorted by name. */
export function explainNodes(workload: Workload, facts: TenantFacts): readonly ExplainedCandidate[] {
  return runToEnd(explainInSteps(workload, captureNodes(workload, facts))).explained
}

export function runToEnd<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The explanation of one question at one moment, from which that of the next moment is computed. */
export interface ExplainedMoment {
  readonly moment: NodesAtMoment
  /** The explained nodes of the moment, sorted by name. */
  readonly explained: readonly ExplainedCandidate[]
  readonly answers: Answers
}

/**
 * The effort of one step, so that a step takes less than a millisecond: so many nodes are passed, or a twentieth of them
 * explained.
 */
const STEP = 5_000
const EXPLAINED = 20

/**
 * Explains the nodes step by step, so that a caller can let other work run in between. `before` must be about the same
 * question; only nodes that have changed since are explained. If none has, `explained` is the same list.
 */
export function* explainInSteps(
  workload: Workload,
  moment: NodesAtMoment,
  before?: ExplainedMoment,
): Generator<undefined, ExplainedMoment> {
  const { nodes } = moment
  const answers = before?.answers ?? createAnswers(workload, moment)
  const matches = before === undefined ? NONE_MATCHES : createMatcher(before.moment, moment)
  const explained: ExplainedCandidate[] = []
  let [reused, effort] = [0, 0]
  for (let at = 0; at < nodes.length; at += 1) {
    const known = before?.explained[matches(at)]
    effort += known === undefined ? EXPLAINED : 1
    if (effort >= STEP) {
      effort = 0
      yield
    }
    if (known !== undefined) reused += 1
    explained.push(known ?? explainAt(workload, moment, at, answers))
  }
  const isSame = reused === nodes.length && before?.explained.length === reused
  return { moment, answers, explained: isSame ? before.explained : explained }
}

const NONE_MATCHES = () => -1

function explainAt(
  workload: Workload,
  moment: NodesAtMoment,
  at: number,
  answers: Answers,
): ExplainedCandidate {
  const node = moment.nodes[at]
  if (node === undefined) throw new RangeError(`there is no node ${at}`)
  return toExplained(node, answers.at(moment, node, moment.slots[at] ?? 0), workload)
}

/**
 * A text that is equal for two questions only if every node in the same state has the same explanation. The number of
 * containers matters only if the replica, with the replicas that a remedy adds beside it, may exceed the quota.
 */
export function questionOf(workload: Workload, { containers, runs }: NodesAtMoment): string {
  const { used, limit } = containers
  const most = 1 + (workload.placement?.affinity?.length ?? 0)
  return JSON.stringify([workload, runs, limit - used > most ? [] : [used, limit]])
}

function toExplained(node: NodeFacts, shared: SharedAnswer, workload: Workload): ExplainedCandidate {
  const { refusals, fixes, remedy } = isNamed(workload, node) ? shared : answerFor(node.id, shared)
  return { nodeId: node.id, nodeName: node.name, nodeStatus: node.status, refusals, fixes, remedy, shared }
}

/** Whether the workload names this node, or none. */
const isNamed = ({ nodeId }: Workload, { id }: NodeFacts): boolean => nodeId === undefined || nodeId === id

/** The shared answer with the id of one node, which a refusal by nodeId and its remedy name. */
export function answerFor(nodeId: NodeFacts['id'], shared: SharedAnswer): SharedAnswer {
  const { refusals, fixes, remedy, reasons } = shared
  const named = (steps: readonly PricedStep[]): readonly PricedStep[] =>
    steps.some(namesNode) ? steps.map((step) => (namesNode(step) ? { ...step, nodeId } : step)) : steps
  return {
    refusals: refusals.map((each) => (each.filter === namedNode.name ? { ...each, reported: nodeId } : each)),
    reasons,
    fixes: fixes.map(named),
    remedy: remedy && { ...remedy, steps: named(remedy.steps) },
  }
}

const namesNode = ({ kind }: PricedStep): boolean => kind === 'name_node'

/** The answers to one question, by class and amounts. */
interface Answers {
  /** The number of different answers. */
  readonly size: number
  at(moment: NodesAtMoment, node: NodeFacts, slot: number): SharedAnswer
}

function createAnswers(workload: Workload, first: NodesAtMoment): Answers {
  const { cpuMillis, memoryBytes } = workload.resources
  const [leastCpu, leastMemory] = [leastFree(cpuMillis), leastFree(memoryBytes)]
  const keyOfLabels = createLabelKey(workload)
  const keyOfReplicas = createReplicaKey(workload)
  const compute = createComputation(workload, first)
  const byRecord = new Map<string, Map<string, AnswersOfClass>>()
  let size = 0
  const answerAt: Answers['at'] = (moment, node, slot) => {
    const [cpu, memory] = [moment.freeCpu[slot] ?? 0, moment.freeMemory[slot] ?? 0]
    const { capacity } = node
    const lacksCpu = cpu < leastCpu
    const lacksMemory = memory < leastMemory
    const isTooLarge =
      (lacksCpu && cpuMillis > capacity.cpuMillis) || (lacksMemory && memoryBytes > capacity.memoryBytes)
    let key = isNamed(workload, node) ? '' : 'n'
    if (lacksCpu) key += 'c'
    if (lacksMemory) key += 'm'
    if (isTooLarge) key += 't'
    key += keyOfReplicas(moment, slot) + keyOfLabels(node)
    key += keyOfCopies(workload, node) + keyOfNetworks(workload, node) + keyOfCreation(workload, node)
    if (mayReturn(workload, node)) key += '^'
    const record = keyOfRecord(node)
    const classes = byRecord.get(record) ?? new Map<string, AnswersOfClass>()
    if (classes.size === 0) byRecord.set(record, classes)
    let known = classes.get(key)
    if (known === undefined) {
      known = { answer: compute.ofClass(factsAt(moment, node, slot)), byAmounts: new Map() }
      size += 1
      classes.set(key, known)
    }
    if (!lacksCpu && !lacksMemory) return known.answer
    const amounts =
      (lacksCpu ? `${cpu}/${capacity.cpuMillis}` : '') +
      (lacksMemory ? `,${memory}/${capacity.memoryBytes}` : '')
    const exact = known.byAmounts.get(amounts)
    if (exact !== undefined) return exact
    const answer = compute.withAmounts(known.answer, {
      ...node,
      requested: requestedAt(moment, node, slot),
    })
    size += 1
    known.byAmounts.set(amounts, answer)
    return answer
  }
  return {
    at: answerAt,
    get size() {
      return size
    },
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
function createReplicaKey({ placement }: Workload): (moment: NodesAtMoment, slot: number) => string {
  const excluded = placement?.antiAffinity ?? []
  return ({ replicas }, slot) => {
    let key = ''
    for (const [name, counts] of replicas) {
      const count = counts.get(slot) ?? 0
      key += count === 0 ? '.' : excluded.includes(name) ? `${count} ` : '+'
    }
    return key
  }
}

function createComputation(workload: Workload, { containers, runs }: NodesAtMoment) {
  const facts: TenantFacts = { nodes: [], containers, runs: (name) => name === workload.name && runs }
  const refusalsOf = createRefusalFinder(workload, facts)
  const adviseOn = createAdvisor(workload, facts)
  return {
    ofClass(node: NodeFacts): SharedAnswer {
      const refusals = refusalsOf(node)
      if (refusals.length === 0) return ACCEPTED
      const answer: SharedAnswer = { refusals, reasons: reasonsOf(refusals), ...adviseOn(node, refusals) }
      // The answer must not depend on which node of the class was asked about first.
      return isNamed(workload, node) ? answer : answerFor(workload.nodeId ?? node.id, answer)
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
        reasons: ofClass.reasons,
      }
    },
  }
}

export const reasonsOf = (refusals: readonly NodeRefusal[]): string =>
  JSON.stringify(refusals.map(({ filter, code, required }) => [filter, code, required]))

const ACCEPTED: SharedAnswer = { refusals: [], reasons: reasonsOf([]), fixes: [], remedy: undefined }

function withStep({ steps }: Remedy, before: PricedStep | undefined, now: readonly PricedStep[]): Remedy {
  const changed = steps.flatMap((step) => (step === before ? now : [step]))
  return { steps: changed, cost: costOf(changed) }
}
