// Labels of nodes and the constraints on them: when a constraint is met, and how much of a long one is quoted.

import type { Constraint } from '@holdfast/contract'
import type { NodeFacts } from './facts.ts'

type Labels = NodeFacts['labels']

/** An own label only: a node may have a label `constructor`, and a property that every object inherits is no label. */
export function labelOf(label: string, labels: Labels): string | undefined {
  const value = labels[label]
  return typeof value === 'string' ? value : undefined
}

/** A label that the node does not report fails `in` and `exists`, and satisfies `notIn` and `notExists`. */
export function isMet({ label, operator, values = [] }: Constraint, labels: Labels): boolean {
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

/** An explanation repeats a constraint for thousands of nodes, and a list of values may be long. */
const MOST_QUOTED = 8
const QUOTED_CHARACTERS = 256

/** The constraint with the first of its values, and the number of values left out. */
export function quoteConstraint(constraint: Constraint): { constraint: Constraint; more: number } {
  const { values = [] } = constraint
  let left = QUOTED_CHARACTERS
  const quoted = values.slice(0, MOST_QUOTED).filter((value, index) => {
    left -= value.length
    return index === 0 || left >= 0
  })
  const more = values.length - quoted.length
  return { constraint: more === 0 ? constraint : { ...constraint, values: quoted }, more }
}

/** Equal for two nodes only where they report the same values of these labels. */
export function keyOfLabels(named: readonly { readonly label: string }[], labels: Labels): string {
  let key = ''
  for (const { label } of named) key += keyOfValue(labelOf(label, labels))
  return key
}

/** A value as a part of a key. No value of a label contains the characters that end it or mark its absence. */
export const keyOfValue = (value: string | undefined): string =>
  value === undefined ? '\u0001' : `${value}\u0000`
