// Which fields differ between two stored revisions of a deployment, as paths with their old and new values.

import type { ArchiveEntry, Json } from '@holdfast/contract'

export interface ChangedField {
  readonly field: string
  /** The name that people read; the path of the field if absent. */
  readonly label?: string
  /** The earlier value; undefined if the field was absent. */
  readonly from: Json | undefined
  readonly to: Json | undefined
}

/** The changes in the order of the fields, each at the deepest path at which both values are known. */
export function changedFields(before: Json | undefined, after: Json | undefined, path = ''): ChangedField[] {
  if (isSame(before, after)) return []
  const [left, right] = [membersOf(before), membersOf(after)]
  if (left === undefined || right === undefined) return [{ field: path, from: before, to: after }]
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].flatMap((name) =>
    changedFields(left[name], right[name], path === '' ? name : `${path}.${name}`),
  )
}

type Stored = Pick<ArchiveEntry, 'spec'>

/** The changes from one stored revision to another. */
export const revisionChanges = (before: Stored, after: Stored): ChangedField[] =>
  changedFields(specJson(before), specJson(after))

/** The stored spec as plain JSON, in which members that are not given are absent. */
const specJson = ({ spec }: Stored): Json => JSON.parse(JSON.stringify(spec))

type Members = { readonly [name: string]: Json | undefined }

/** The members of an object. Items of a list that have a name are its members, so that a moved item is no change. */
function membersOf(value: Json | undefined): Members | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (!Array.isArray(value)) return value
  const named = value.map((item): [string, Json] | undefined => {
    const key = nameOf(item)
    return key === undefined ? undefined : [key, item]
  })
  const entries = named.filter((entry) => entry !== undefined)
  return entries.length === value.length && value.length > 0 ? Object.fromEntries(entries) : undefined
}

function nameOf(item: Json): string | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined
  const { name = null, volume = null, label = null, host = null, path = null } = item
  if (typeof host === 'string') return `${host}${typeof path === 'string' ? path : ''}`
  return [name, volume, label].find((each) => typeof each === 'string')
}

const isSame = (left: Json | undefined, right: Json | undefined): boolean =>
  JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))

/** The value with its members in one order, so that the order in which they were sent is no change. */
function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, part]) => [name, sorted(part) ?? null]))
}
