// Filters and sorts the lists that people search: by a part of the name, by phase, and with the worst first.

import type { PageRequest } from './page.ts'

export interface ListQuery extends PageRequest {
  /** A part of the name. */
  readonly q?: string | undefined
  readonly phase?: string | undefined
  readonly sort?: string | undefined
}

/** The facts of an item by which a list is filtered and sorted. */
export interface Sortable {
  readonly name: string
  readonly phase: string
  /** 0 is the worst. */
  readonly rank: number
  /** When the item last changed. */
  readonly changedAt: string
}

export function isListed({ name, phase }: Pick<Sortable, 'name' | 'phase'>, query: ListQuery): boolean {
  if (query.q !== undefined && !name.toLowerCase().includes(query.q.toLowerCase())) return false
  return query.phase === undefined || phase === query.phase
}

const LATEST_MS = 10 ** 14
const DIGITS = 15

/** A text that sorts an item as the query asks. It ends with the name, which makes it unique. */
export function sortKey({ name, rank, changedAt }: Sortable, { sort }: ListQuery): string {
  if (sort === 'worst') return `${String(rank).padStart(3, '0')}/${name}`
  if (sort !== 'newest') return name
  const age = LATEST_MS - (Date.parse(changedAt) || 0)
  return `${String(age).padStart(DIGITS, '0')}/${name}`
}

/** Position of a word in a list that begins with the worst; words that the list lacks are not bad. */
export function rankOf(word: string, worstFirst: readonly string[]): number {
  const at = worstFirst.indexOf(word)
  return at < 0 ? worstFirst.length : at
}
