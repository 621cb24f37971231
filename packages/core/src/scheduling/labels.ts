// Node labels and the constraints on them: when a constraint is met, and how much of a long constraint an explanation
// quotes.

import type { Constraint } from '@holdfast/contract'
import type { NodeFacts } from './facts.ts'

type Labels = NodeFacts['labels']

/**
 * The value of a node's label. A node may have a label named `constructor`, so properties that every object inherits are
 * ignored.
 */
export function labelOf(label: string, labels: Labels): string | undefined {
  const value = labels[label]
  return typeof value === 'string' ? value : undefined
}

/**
 * Whether a constraint is met. A label that the node does not report fails `in` and `exists`, and satisfies `notIn` and
 * `notExists`.
 */
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

/**
 * The most values of a constraint that an explanation quotes, because it repeats the constraint for thousands of nodes.
 */
const MOST_QUOTED = 8
const QUOTED_CHARACTERS = 256

/** The constraint with only its first values, and the number of values left out. */
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

/**
 * A label value as a part of a key. No label value contains the characters that mark the end or the absence of a value.
 */
export const keyOfValue = (value: string | undefined): string =>
  value === undefined ? '\u0001' : `${value}\u0000`
