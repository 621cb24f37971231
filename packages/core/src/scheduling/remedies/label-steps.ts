// Finds the labels of a node, or else the demands of a deployment, that have to change so that no filter on labels
// refuses the node. All demands on one label are solved together, because a value that satisfies one constraint may
// violate another. Country and region are solved together too, because either of them satisfies a demanded region.
// A node may only report the location that its join token attests, so any other location needs another enrollment. Hiding
// the location is never a remedy. See docs/design/residency.md#attestation

import { type Constraint, type FilterName, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { RESIDENCY_FILTERS } from '../filters/index.ts'
import { labelConstraint } from '../filters/label-constraint.ts'
import { isMet, keyOfValue, labelOf } from '../labels.ts'
import { lazy } from '../memoize.ts'
import type { Filter } from '../refusal.ts'
import { countryOf } from '../residency.ts'
import { applySteps, constraintKey, draftOf, type Step } from './apply-changes.ts'
import { type Cost, compareCosts, costOf, type PricedStep } from './cost.ts'

/** The prefix of labels that only the platform may set. */
const RESERVED = 'holdfast.io/'
export const LOCATION: readonly string[] = [NODE_COUNTRY, NODE_REGION]
const LABEL_FILTERS: readonly Filter[] = [...RESIDENCY_FILTERS, labelConstraint]
const NO_FACTS: TenantFacts = { nodes: [], containers: { used: 0, limit: 0 } }

export interface LabelAnswer {
  /** The changes after which no filter refuses the node because of its labels. */
  readonly steps: readonly PricedStep[]
  /** Maps a filter to the changes that are needed to end the refusal by the filter. */
  readonly neededBy: ReadonlyMap<FilterName, readonly PricedStep[]>
}

/**
 * Creates a function that finds the label changes a node needs to accept a workload. Nodes with the same label values
 * share the result.
 */
export function createLabelAdvisor(workload: Workload): (node: NodeFacts) => LabelAnswer {
  const questions = questionsOf(workload)
  const answers = new Map<string, LabelAnswer>()
  return (node) => {
    let key = ''
    for (const { keyOf } of questions) key += keyOf(node)
    const known = answers.get(key)
    if (known !== undefined) return known
    const answer = combined(questions.map((question) => answerTo(question, node)))
    answers.set(key, answer)
    return answer
  }
}

function combined(answers: readonly LabelAnswer[]): LabelAnswer {
  const neededBy = new Map<FilterName, readonly PricedStep[]>()
  for (const answer of answers)
    for (const [filter, steps] of answer.neededBy)
      neededBy.set(filter, [...(neededBy.get(filter) ?? []), ...steps])
  return { steps: answers.flatMap(({ steps }) => steps), neededBy }
}

interface Question {
  /** A text for a node. Nodes with the same text need the same label changes. */
  readonly keyOf: (node: NodeFacts) => string
  readonly answers: Map<string, LabelAnswer>
  /** The workload, reduced to its demands on those labels that are solved together. */
  readonly workload: Workload
  /**
   * For each label, the settings to try; the first setting leaves the label unchanged. There are few settings, even for
   * constraints with long lists.
   */
  readonly settings: (node: NodeFacts) => readonly (readonly Setting[])[]
}

/** The changes that give a label one possible value. */
type Setting = readonly PricedStep[]

function answerTo(question: Question, node: NodeFacts): LabelAnswer {
  const { answers, keyOf, workload } = question
  const key = keyOf(node)
  const known = answers.get(key)
  if (known !== undefined) return known
  const steps = cheapestOf(question, node)
  const answer = { steps, neededBy: neededSteps(steps, workload, node) }
  answers.set(key, answer)
  return answer
}

function neededSteps(
  steps: readonly PricedStep[],
  workload: Workload,
  node: NodeFacts,
): Map<FilterName, readonly PricedStep[]> {
  const needed = new Map<FilterName, readonly PricedStep[]>()
  for (const filter of LABEL_FILTERS) {
    const isRefused = filter.refuse(workload, node, NO_FACTS) !== undefined
    if (isRefused) needed.set(filter.name, withoutUseless(steps, filter, workload, node))
  }
  return needed
}

/** Leaves out every step that the filter does not need to accept the node. */
function withoutUseless(
  steps: readonly PricedStep[],
  filter: Filter,
  workload: Workload,
  node: NodeFacts,
): readonly PricedStep[] {
  let needed = steps
  for (const step of steps) {
    if (needed.length === 1) break
    const fewer = needed.filter((other) => other !== step)
    const draft = applySteps(draftOf(workload, node, NO_FACTS), fewer)
    if (filter.refuse(draft.workload, draft.node, NO_FACTS) === undefined) needed = fewer
  }
  return needed
}

function questionsOf(workload: Workload): Question[] {
  const written = constraintsOf(workload).map((each) => [constraintKey(each), each] as const)
  const constraints = [...new Map(written).values()]
  const only = (labels: readonly string[], residency: Workload['residency']): Workload => ({
    ...workload,
    residency,
    placement: { constraints: constraints.filter(({ label }) => labels.includes(label)) },
  })
  const others = new Set(constraints.map(({ label }) => label).filter((label) => !LOCATION.includes(label)))
  return [
    locationQuestion(only(LOCATION, workload.residency)),
    ...[...others].map((label) => labelQuestion(label, only([label], undefined))),
  ]
}

/**
 * The search for a country and region that the workload accepts. Of equally cheap solutions the first is used. Regions
 * vary fastest, so setting the region is preferred to setting a country of the region.
 */
function locationQuestion(workload: Workload): Question {
  const { country, region, regionCountries = [], blockedCountries = [] } = workload.residency ?? {}
  const wanted = lazy(() => {
    const meets = (label: string, value: string): boolean =>
      unmetBy(workload, label, value).every((constraint) => constraint.label !== label)
    const isOpen = (value: string): boolean => !blockedCountries.includes(value) && meets(NODE_COUNTRY, value)
    const listed = valuesIn(NODE_COUNTRY, workload).filter((value) => (country ?? value) === value)
    return {
      countries: [country, regionCountries.find(isOpen), listed.find(isOpen)],
      regions: [region, valuesIn(NODE_REGION, workload).find((value) => meets(NODE_REGION, value))],
    }
  })
  return {
    answers: new Map(),
    keyOf: keyOfLocation,
    workload,
    settings: (node) => [
      locationsOf(NODE_COUNTRY, wanted().countries, node.attested.country, node),
      locationsOf(NODE_REGION, wanted().regions, node.attested.region, node),
    ],
  }
}

/** A text that is equal for two nodes only if they report, hide and attest the same location. */
export const keyOfLocation = ({ labels, attested, hiddenCountry }: NodeFacts): string =>
  keyOfValue(labelOf(NODE_COUNTRY, labels)) +
  keyOfValue(labelOf(NODE_REGION, labels)) +
  keyOfValue(hiddenCountry) +
  keyOfValue(attested.country) +
  keyOfValue(attested.region)

function locationsOf(
  label: string,
  wanted: readonly (string | undefined)[],
  attested: string | undefined,
  { labels }: NodeFacts,
): Setting[] {
  const values = [...new Set([attested, ...wanted])].filter((value) => value !== undefined)
  return [
    UNCHANGED,
    ...values
      .filter((value) => value !== labelOf(label, labels))
      .map(
        (value): Setting => [
          { kind: value === attested ? 'set_label' : 'attest_label', label, value, amount: 1 },
        ],
      ),
  ]
}

const UNCHANGED: Setting = []

/**
 * The search for a value that the workload accepts, for one label other than country and region. The best value does not
 * depend on the current value of the label.
 */
function labelQuestion(label: string, workload: Workload): Question {
  const settings = lazy(() => [
    label.startsWith(RESERVED) ? [UNCHANGED] : [UNCHANGED, bestSetting(label, workload)],
  ])
  return {
    answers: new Map(),
    keyOf: ({ labels }) => keyOfValue(labelOf(label, labels)),
    workload,
    settings,
  }
}

function bestSetting(label: string, workload: Workload): Setting {
  const values = [...new Set(valuesIn(label, workload)), undefined, unlistedValue(workload)]
  const unmet = values.map((value) => unmetBy(workload, label, value).length)
  const value = values[unmet.indexOf(Math.min(...unmet))]
  return [{ kind: 'set_label', label, ...(value === undefined ? {} : { value }), amount: 1 }]
}

/**
 * Returns the cheapest changes to labels and demands. Every combination of label settings is tried; demands that a
 * combination leaves unmet are removed from the deployment.
 */
function cheapestOf({ workload, settings }: Question, node: NodeFacts): readonly PricedStep[] {
  let best: { readonly steps: readonly PricedStep[]; readonly cost: Cost } | undefined
  for (const chosen of combinationsOf(settings(node))) {
    const changed = applySteps(draftOf(workload, node, NO_FACTS), chosen).node
    const steps = [...chosen, ...relaxations(workload, changed)]
    const cost = costOf(steps)
    if (best === undefined || compareCosts(cost, best.cost) < 0) best = { steps, cost }
  }
  return best?.steps ?? []
}

/** All combinations of one setting for each label. The setting of the last label varies fastest. */
function combinationsOf(choices: readonly (readonly Setting[])[]): Setting[] {
  return choices.reduce<Setting[]>(
    (chosen, each) => chosen.flatMap((before) => each.map((setting) => [...before, ...setting])),
    [UNCHANGED],
  )
}

const constraintsOf = ({ placement }: Workload): readonly Constraint[] => placement?.constraints ?? []

/** The values that constraints with the operator `in` list for a label. */
const valuesIn = (label: string, workload: Workload): string[] =>
  constraintsOf(workload).flatMap((each) =>
    each.label === label && each.operator === 'in' ? (each.values ?? []) : [],
  )

/** A value that no constraint lists, for a label that needs any value. */
function unlistedValue(workload: Workload): string {
  const listed = new Set(constraintsOf(workload).flatMap(({ values = [] }) => values))
  for (let number = 1; ; number += 1) {
    const value = number === 1 ? 'true' : `true-${number}`
    if (!listed.has(value)) return value
  }
}

const unmetWith = (workload: Workload, labels: NodeFacts['labels']): readonly Constraint[] =>
  constraintsOf(workload).filter((constraint) => !isMet(constraint, labels))

/** The constraints that a node with only the given label value would not meet. */
const unmetBy = (workload: Workload, label: string, value: string | undefined) =>
  unmetWith(workload, value === undefined ? {} : { [label]: value })

function relaxations(workload: Workload, node: NodeFacts): PricedStep[] {
  return [
    ...RESIDENCY_FILTERS.flatMap(({ name, refuse }): PricedStep[] =>
      refuse(workload, node, NO_FACTS) === undefined
        ? []
        : [{ ...relaxationOf(name, workload, node), amount: 1 }],
    ),
    ...unmetWith(workload, node.labels).map(
      (constraint): PricedStep => ({ kind: 'change_constraint', constraint, amount: 1 }),
    ),
  ]
}

function relaxationOf(filter: FilterName, { residency }: Workload, node: NodeFacts): Step {
  const without = (demand: NonNullable<Step['demand']>, value: string | undefined): Step => ({
    kind: 'change_residency',
    demand,
    ...(value === undefined ? {} : { value }),
  })
  if (filter === 'residency_country') return without('country', residency?.country)
  if (filter === 'residency_region') return without('region', residency?.region)
  return without('blockedCountries', countryOf(node))
}
