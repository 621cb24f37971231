// Do the node's labels satisfy every constraint of the deployment? Hard: a node that does not report a label fails what
// asks for it. A label that is absent is in no list, so notIn holds. SPEC 2.7, DECISIONS 4.

import type { DeploymentSpec, Json } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

type Constraint = NonNullable<NonNullable<DeploymentSpec['placement']>['constraints']>[number]

export const labelConstraint: Filter = {
  name: 'label_constraint',
  curedBy: ['node_labels', 'deployment'],
  phrases: { label_mismatch: 'with other labels' },
  keptFor: ({ placement }) => (placement?.constraints === undefined ? '' : textOf(placement.constraints)),
  refuse({ placement }, node) {
    const unmet = placement?.constraints?.filter((constraint) => !holds(constraint, node.labels)) ?? []
    if (unmet.length === 0) return undefined
    return {
      filter: 'label_constraint',
      code: 'label_mismatch',
      required: unmet.map((constraint) => quote(constraint).required),
      reported: Object.fromEntries(unmet.map(({ label }) => [label, labelOf(label, node.labels) ?? null])),
      fix: unmet.map((constraint) => fixOf(constraint, node)).join(' '),
    }
  },
}

/** The same specs are placed again and again, and a spec is never changed in place. */
const texts = new WeakMap<readonly Constraint[], string>()

function textOf(constraints: readonly Constraint[]): string {
  const known = texts.get(constraints)
  if (known !== undefined) return known
  const text = JSON.stringify(constraints.map(({ label, operator, values }) => [label, operator, values]))
  texts.set(constraints, text)
  return text
}

function holds({ label, operator, values = [] }: Constraint, labels: NodeFacts['labels']): boolean {
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

/** An own label only: `constructor` is a label key like any other. */
export function labelOf(label: string, labels: NodeFacts['labels']): string | undefined {
  return Object.hasOwn(labels, label) ? labels[label] : undefined
}

function fixOf(constraint: Constraint, { name, labels }: NodeFacts): string {
  const { label, operator } = constraint
  const where = `in the configuration of the agent on ${name}`
  switch (operator) {
    case 'in':
      return `Set the label ${label} to ${quote(constraint).text} ${where}, or change placement.constraints.`
    case 'notIn':
      return `Set the label ${label} to anything but ${quote(constraint).text} ${where}, or change placement.constraints.`
    case 'exists':
      return `Set the label ${label} ${where}, or change placement.constraints.`
    case 'notExists':
      return `Remove the label ${label} (${JSON.stringify(labelOf(label, labels))}) ${where}, or change placement.constraints.`
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

const quotes = new WeakMap<Constraint, Quoted>()

function quote(constraint: Constraint): Quoted {
  const known = quotes.get(constraint)
  if (known !== undefined) return known
  const { values } = constraint
  const first = firstOf(values ?? [])
  const texts = first.map((value) => JSON.stringify(value)).join(' or ')
  const more = (values?.length ?? 0) - first.length
  const cut = { ...constraint, values: first }
  const quoted =
    more === 0
      ? { constraint, required: constraint, text: texts }
      : { constraint: cut, required: { ...cut, more }, text: `${texts} or ${more} more` }
  quotes.set(constraint, quoted)
  return quoted
}

function firstOf(values: readonly string[]): string[] {
  let left = QUOTED_CHARACTERS
  return values.slice(0, MOST_QUOTED).filter((value, index) => {
    left -= value.length
    return index === 0 || left >= 0
  })
}

/** As it is told: of a long list of values the first ones. */
export const quoteConstraint = (constraint: Constraint): Constraint => quote(constraint).constraint
