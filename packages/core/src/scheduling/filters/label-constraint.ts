// Do the node's labels satisfy every constraint of the deployment? Hard: a node that does not report a label fails what
// asks for it. A label that is absent is in no list, so notIn holds. SPEC 2.7, DECISIONS 4.

import type { DeploymentSpec, Json } from '@holdfast/contract'
import type { NodeFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedFor } from '../remembered.ts'

type Constraint = NonNullable<NonNullable<DeploymentSpec['placement']>['constraints']>[number]

export const labelConstraint: Filter = {
  name: 'label_constraint',
  curedBy: ['node_labels', 'deployment'],
  phrases: { label_mismatch: 'with other labels' },
  keptFor: ({ placement }) => (placement?.constraints === undefined ? '' : textOf(placement.constraints)),
  refuse(workload, { name, labels }) {
    const constraints = workload.placement?.constraints
    if (constraints === undefined || areMet(constraints, labels)) return undefined
    const { required, reported, fixes } = saidOf(workload, constraints, labels)
    return { filter: 'label_constraint', code: 'label_mismatch', required, reported, fix: fixes.join(name) }
  },
}

/** The same specs are placed again and again, and a spec is never changed in place. */
const textOf = rememberedFor((constraints: readonly Constraint[]): string =>
  JSON.stringify(constraints.map(({ label, operator, values }) => [label, operator, values])),
)

interface Said {
  readonly required: Json
  readonly reported: Json
  /** What is to be done, with a gap wherever the node is named. */
  readonly fixes: readonly string[]
}

const saidFor = rememberedFor((_workload: Workload) => new Map<string, Said>())

/** Of all nodes with these values it says the same. */
function saidOf(workload: Workload, constraints: readonly Constraint[], labels: NodeFacts['labels']): Said {
  const known = saidFor(workload)
  const values = valuesText(constraints, labels)
  const before = known.get(values)
  if (before !== undefined) return before
  const unmet = constraints.filter((each) => !isMet(each, labels))
  const said = {
    required: unmet.map((constraint) => quote(constraint).required),
    reported: Object.fromEntries(unmet.map(({ label }) => [label, labelOf(label, labels) ?? null])),
    fixes: fixesOf(unmet, labels),
  }
  known.set(values, said)
  return said
}

/** Equal of two nodes only where the values are. */
function valuesText(constraints: readonly Constraint[], labels: NodeFacts['labels']): string {
  return constraints.map(({ label }) => textOfValue(labelOf(label, labels))).join('\u0000')
}

/** A value, or that there is none. */
export const textOfValue = (value: string | undefined): string => value ?? '\u0001'

function areMet(constraints: readonly Constraint[], labels: NodeFacts['labels']): boolean {
  for (const constraint of constraints) if (!isMet(constraint, labels)) return false
  return true
}

/** The rule itself, of one constraint alone. */
export function isMet({ label, operator, values = [] }: Constraint, labels: NodeFacts['labels']): boolean {
  const value = labelOf(label, labels)
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notIn':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case 'notExists':
      return value === undefined
  }
}

/** An own label only: `constructor` is a label key like any other, and what an object inherits is no text. */
export function labelOf(label: string, labels: NodeFacts['labels']): string | undefined {
  const value = labels[label]
  return typeof value === 'string' ? value : undefined
}

function fixesOf(unmet: readonly Constraint[], labels: NodeFacts['labels']): string[] {
  const fixes = unmet.map(
    (constraint) => `${fixOf(constraint, labels)} in the configuration of the agent on `,
  )
  const [first = '', ...others] = fixes
  return [first, ...others.map((other) => `${INSTEAD} ${other}`), INSTEAD]
}

const INSTEAD = ', or change placement.constraints.'

function fixOf(constraint: Constraint, labels: NodeFacts['labels']): string {
  const { label, operator } = constraint
  switch (operator) {
    case 'in':
      return `Set the label ${label} to ${quote(constraint).text}`
    case 'notIn':
      return `Set the label ${label} to anything but ${quote(constraint).text}`
    case 'exists':
      return `Set the label ${label}`
    case 'notExists':
      return `Remove the label ${label} (${JSON.stringify(labelOf(label, labels))})`
  }
}

/** Of the values of one constraint: a matrix says of thousands of nodes what is asked of them, and a list may be long. */
const MOST_QUOTED = 8
const QUOTED_CHARACTERS = 256

interface Quoted {
  readonly constraint: Constraint
  /** With the number of the values that are not quoted. */
  readonly required: Json
  /** The values in a sentence. */
  readonly text: string
}

const quote = rememberedFor((constraint: Constraint): Quoted => {
  const { values } = constraint
  const first = firstOf(values ?? [])
  const texts = first.map((value) => JSON.stringify(value)).join(' or ')
  const more = (values?.length ?? 0) - first.length
  const cut = { ...constraint, values: first }
  return more === 0
    ? { constraint, required: constraint, text: texts }
    : { constraint: cut, required: { ...cut, more }, text: `${texts} or ${more} more` }
})

function firstOf(values: readonly string[]): string[] {
  let left = QUOTED_CHARACTERS
  return values.slice(0, MOST_QUOTED).filter((value, index) => {
    left -= value.length
    return index === 0 || left >= 0
  })
}

/** As it is told: of a long list of values the first ones. */
export const quoteConstraint = (constraint: Constraint): Constraint => quote(constraint).constraint
