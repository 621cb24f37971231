// Do the node's labels satisfy every constraint of the deployment? Hard: a node that does not report a label fails what
// asks for it. A label that is absent is in no list, so notIn holds. SPEC 2.7, DECISIONS 4.

import type { DeploymentSpec } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { CureKind, Filter } from '../refusal.ts'

type Constraint = NonNullable<NonNullable<DeploymentSpec['placement']>['constraints']>[number]

const CURED_BY: readonly CureKind[] = ['node_labels', 'deployment']

export const labelConstraint: Filter = {
  name: 'label_constraint',
  phrases: { label_mismatch: 'with other labels' },
  keptFor: ({ placement }) => (placement?.constraints === undefined ? '' : textOf(placement.constraints)),
  refuse({ placement }, node) {
    const unmet = placement?.constraints?.filter((constraint) => !holds(constraint, node.labels)) ?? []
    if (unmet.length === 0) return undefined
    return {
      filter: 'label_constraint',
      code: 'label_mismatch',
      required: unmet,
      reported: Object.fromEntries(unmet.map(({ label }) => [label, labelOf(label, node.labels) ?? null])),
      fix: unmet.map((constraint) => fixOf(constraint, node)).join(' '),
      curedBy: CURED_BY,
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

function fixOf({ label, operator, values = [] }: Constraint, { name, labels }: NodeFacts): string {
  const where = `in the configuration of the agent on ${name}`
  switch (operator) {
    case 'in':
      return `Set the label ${label} to ${listed(values)} ${where}, or change placement.constraints.`
    case 'notIn':
      return `Set the label ${label} to anything but ${listed(values)} ${where}, or change placement.constraints.`
    case 'exists':
      return `Set the label ${label} ${where}, or change placement.constraints.`
    case 'notExists':
      return `Remove the label ${label} (${JSON.stringify(labelOf(label, labels))}) ${where}, or change placement.constraints.`
  }
}

const listed = (values: readonly string[]): string =>
  values.map((value) => JSON.stringify(value)).join(' or ')
