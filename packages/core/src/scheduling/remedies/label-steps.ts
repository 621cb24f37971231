// Which labels of the node, or else which demands of the deployment, have to be others? All that reads one label is
// answered together: a value that satisfies one constraint may break another. Country and region are one such question,
// since a region is answered by either.
//
// Where a machine stands is not its own word: a value that its join token attests is set, any other is attested anew. And
// that a machine says less of where it stands is no cure for anything. SPEC 2.7, SAFETY 2 row 14.

import { type Constraint, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { RESIDENCY_FILTERS } from '../filters/index.ts'
import { isMet, labelOf, textOfValue } from '../filters/label-constraint.ts'
import { once } from '../remembered.ts'
import { countryOf } from '../residency.ts'
import { applySteps, constraintKey, draftOf, type Step } from './apply-changes.ts'
import { type Cost, compareCosts, costOf, type PricedStep } from './cost.ts'

/** Only the platform says what is below its own domain. */
const RESERVED = 'holdfast.io/'
const PLACES: readonly string[] = [NODE_COUNTRY, NODE_REGION]
const NO_FACTS: TenantFacts = { nodes: [], containers: { used: 0, limit: 0 } }

/** The steps after which no filter on labels refuses; of the same values they are the same, so they are found once. */
export function labelStepsOf(workload: Workload): (node: NodeFacts) => PricedStep[] {
  const questions = questionsOf(workload)
  return (node) => {
    const steps: PricedStep[] = []
    for (const question of questions) steps.push(...answerTo(question, node))
    return steps
  }
}

function answerTo(question: Question, node: NodeFacts): readonly PricedStep[] {
  const { answers, valuesOf } = question
  const values = valuesOf(node)
  const known = answers.get(values)
  if (known !== undefined) return known
  const answer = cheapestOf(question, node)
  answers.set(values, answer)
  return answer
}

interface Question {
  /** All that it reads of a node: of the same values the answer is the same. */
  readonly valuesOf: (node: NodeFacts) => string
  readonly answers: Map<string, readonly PricedStep[]>
  /** What it asks, and nothing else. */
  readonly workload: Workload
  /** For each label what it may be made, beginning with nothing: it stays as it is. A few, however much is asked. */
  readonly settings: (node: NodeFacts) => readonly (readonly Setting[])[]
}

type Setting = readonly PricedStep[]

function questionsOf(workload: Workload): Question[] {
  const written = constraintsOf(workload).map((each) => [constraintKey(each), each] as const)
  const constraints = [...new Map(written).values()]
  const asked = (labels: readonly string[], residency: Workload['residency']): Workload => ({
    ...workload,
    residency,
    placement: { constraints: constraints.filter(({ label }) => labels.includes(label)) },
  })
  const others = new Set(constraints.map(({ label }) => label).filter((label) => !PLACES.includes(label)))
  return [
    placeQuestion(asked(PLACES, workload.residency)),
    ...[...others].map((label) => labelQuestion(label, asked([label], undefined))),
  ]
}

/** The region varies first, and of equal cures the first one stays: its own name comes before a country of it. */
function placeQuestion(workload: Workload): Question {
  const { country, region, regionCountries = [], blockedCountries = [] } = workload.residency ?? {}
  const wanted = once(() => {
    const meets = (label: string, value: string): boolean =>
      unmetBy(workload, label, value).every((constraint) => constraint.label !== label)
    const isOpen = (value: string): boolean => !blockedCountries.includes(value) && meets(NODE_COUNTRY, value)
    const listed = inListsOf(NODE_COUNTRY, workload).filter((value) => (country ?? value) === value)
    return {
      countries: [country, regionCountries.find(isOpen), listed.find(isOpen)],
      regions: [region, inListsOf(NODE_REGION, workload).find((value) => meets(NODE_REGION, value))],
    }
  })
  return {
    answers: new Map(),
    valuesOf: ({ labels, attested, hiddenCountry }) =>
      [
        ...[labelOf(NODE_COUNTRY, labels), labelOf(NODE_REGION, labels), hiddenCountry],
        ...[attested.country, attested.region],
      ]
        .map(textOfValue)
        .join('\u0000'),
    workload,
    settings: (node) => [
      placesOf(NODE_COUNTRY, wanted().countries, node.attested.country, node),
      placesOf(NODE_REGION, wanted().regions, node.attested.region, node),
    ],
  }
}

function placesOf(
  label: string,
  wanted: readonly (string | undefined)[],
  attested: string | undefined,
  { labels }: NodeFacts,
): Setting[] {
  const values = [...new Set([attested, ...wanted])].filter((value) => value !== undefined)
  return [
    STAYS,
    ...values
      .filter((value) => value !== labelOf(label, labels))
      .map(
        (value): Setting => [
          { kind: value === attested ? 'set_label' : 'attest_label', label, value, amount: 1 },
        ],
      ),
  ]
}

const STAYS: Setting = []

/** What is best to set does not depend on what is set. */
function labelQuestion(label: string, workload: Workload): Question {
  const settings = once(() => [label.startsWith(RESERVED) ? [STAYS] : [STAYS, bestOf(label, workload)]])
  return {
    answers: new Map(),
    valuesOf: ({ labels }) => textOfValue(labelOf(label, labels)),
    workload,
    settings,
  }
}

function bestOf(label: string, workload: Workload): Setting {
  const values = [...new Set(inListsOf(label, workload)), undefined, unlisted(workload)]
  const unmet = values.map((value) => unmetBy(workload, label, value).length)
  const value = values[unmet.indexOf(Math.min(...unmet))]
  return [{ kind: 'set_label', label, ...(value === undefined ? {} : { value }), amount: 1 }]
}

/** Each combination of values with what is then still in the way taken out of the deployment. */
function cheapestOf({ workload, settings }: Question, node: NodeFacts): readonly PricedStep[] {
  let best: { readonly steps: readonly PricedStep[]; readonly cost: Cost } | undefined
  for (const chosen of combined(settings(node))) {
    const changed = applySteps(draftOf(workload, node, NO_FACTS), chosen).node
    const steps = [...chosen, ...relaxations(workload, changed)]
    const cost = costOf(steps)
    if (best === undefined || compareCosts(cost, best.cost) < 0) best = { steps, cost }
  }
  return best?.steps ?? []
}

/** All choices of one of each; the last varies first. */
function combined(choices: readonly (readonly Setting[])[]): Setting[] {
  return choices.reduce<Setting[]>(
    (chosen, each) => chosen.flatMap((before) => each.map((setting) => [...before, ...setting])),
    [STAYS],
  )
}

const constraintsOf = ({ placement }: Workload): readonly Constraint[] => placement?.constraints ?? []

const inListsOf = (label: string, workload: Workload): string[] =>
  constraintsOf(workload).flatMap((each) =>
    each.label === label && each.operator === 'in' ? (each.values ?? []) : [],
  )

/** Where any value does but those that are listed. */
function unlisted(workload: Workload): string {
  const listed = new Set(constraintsOf(workload).flatMap(({ values = [] }) => values))
  for (let number = 1; ; number += 1) {
    const value = number === 1 ? 'true' : `true-${number}`
    if (!listed.has(value)) return value
  }
}

/** Of all that the question asks, what is not met with these labels. */
const unmetWith = (workload: Workload, labels: NodeFacts['labels']): readonly Constraint[] =>
  constraintsOf(workload).filter((constraint) => !isMet(constraint, labels))

/** The same with one label only. */
const unmetBy = (workload: Workload, label: string, value: string | undefined) =>
  unmetWith(workload, value === undefined ? {} : { [label]: value })

function relaxations(workload: Workload, node: NodeFacts): PricedStep[] {
  return [
    ...RESIDENCY_FILTERS.flatMap(({ name, refuse }): PricedStep[] =>
      refuse(workload, node, NO_FACTS) === undefined
        ? []
        : [{ ...relaxing(name, workload, node), amount: 1 }],
    ),
    ...unmetWith(workload, node.labels).map(
      (constraint): PricedStep => ({ kind: 'change_constraint', constraint, amount: 1 }),
    ),
  ]
}

function relaxing(filter: string, { residency }: Workload, node: NodeFacts): Step {
  const kind = 'change_residency' as const
  const of = (demand: NonNullable<Step['demand']>, value: string | undefined): Step => ({
    kind,
    demand,
    ...(value === undefined ? {} : { value }),
  })
  if (filter === 'residency_country') return of('country', residency?.country)
  if (filter === 'residency_region') return of('region', residency?.region)
  return of('blockedCountries', countryOf(node))
}
