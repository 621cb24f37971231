// A Compose file as a tree of members, each with its path and its place in the file. Aliases and merge keys are resolved,
// and variables are replaced.

import { childPath, elementPath, type PathStep } from '@holdfast/contract'
import { safeKey } from '@holdfast/core/admission'

interface Member {
  /** Steps from the top of the file, such as `services`, `web`, `ports`, 0. An alias has the path at which it is used. */
  readonly steps: readonly PathStep[]
  /** Offset in the text: of the key in a map, or of the element in a list. A merged member has that of the anchor. */
  readonly offset: number
}

export interface WrittenScalar extends Member {
  readonly kind: 'scalar'
  /** The text as it is in the file, without quotes; null for an empty value. Compose has no other scalars. */
  readonly text: string | null
  /** Names of the variables that are part of the text. */
  readonly variables: readonly string[]
  /** Names of the variables without a value, which are empty in the text. */
  readonly unset: readonly string[]
}

interface WrittenList extends Member {
  readonly kind: 'list'
  readonly items: readonly Written[]
}

export interface WrittenMap extends Member {
  readonly kind: 'map'
  readonly members: ReadonlyMap<string, Written>
}

export type Written = WrittenScalar | WrittenList | WrittenMap

/** The path as messages show it. A key that may be a credential is redacted. */
export const pathOf = (steps: readonly PathStep[]): string =>
  steps.reduce<string>(
    (parent, step) =>
      typeof step === 'number' ? elementPath(parent, step) : childPath(parent, safeKey(step)),
    '',
  )

/** Whether a member has no value, as in `volumes:` without anything after it. */
export const isEmpty = (node: Written): boolean => node.kind === 'scalar' && node.text === null

export const memberOf = (node: Written | undefined, key: string): Written | undefined =>
  node?.kind === 'map' ? node.members.get(key) : undefined

/** The text of a scalar; undefined for everything else. */
export const textOf = (node: Written | undefined): string | undefined =>
  node?.kind === 'scalar' ? (node.text ?? undefined) : undefined

export const scalarLike = (
  node: Written,
  text: string | null,
  variables: readonly string[] = [],
): WrittenScalar => ({
  kind: 'scalar',
  steps: node.steps,
  offset: node.offset,
  text,
  variables: node.kind === 'scalar' ? [...node.variables, ...variables] : variables,
  unset: node.kind === 'scalar' ? node.unset : [],
})
