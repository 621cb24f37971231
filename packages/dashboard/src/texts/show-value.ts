// A required or reported value of the server as people read it: amounts with their unit, lists with commas.

import type { Json } from '@holdfast/contract'
import { formatBytes, formatCpu, formatNumber } from './format.ts'

const NOTHING = 'none'

export function showValue(value: Json): string {
  if (value === null) return NOTHING
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(showValue).join(', ')
  if (typeof value === 'object') return showMembers(value)
  return typeof value === 'number' ? formatNumber(value) : String(value)
}

function showMembers(value: { readonly [name: string]: Json }): string {
  const members = Object.entries(value)
  const [only] = members
  if ('label' in value && 'operator' in value) return showConstraint(value)
  if (members.length === 1 && only?.[0] === 'none') return `not ${showValue(only[1])}`
  if (members.length === 1 && only?.[0] === 'anyOf') return `${showValue(only[1])} and others`
  if (members.length === 0) return NOTHING
  return members.map(([name, part]) => showMember(name, part)).join('; ')
}

/** A placement constraint: `disk in ssd`, `gpu exists`. */
function showConstraint({
  label = null,
  operator = null,
  values = [],
}: {
  readonly [name: string]: Json
}): string {
  const words = [showValue(label), wordsOf(showValue(operator))]
  return Array.isArray(values) && values.length === 0
    ? words.join(' ')
    : [...words, showValue(values)].join(' ')
}

function showMember(name: string, part: Json): string {
  if (name.endsWith('Bytes'))
    return `${wordsOf(name.slice(0, -'Bytes'.length))} ${showAmount(part, formatBytes)}`
  if (name === 'cpuMillis') return showAmount(part, formatCpu)
  return `${isGiven(name) ? name : wordsOf(name)} ${showValue(part)}`
}

/** Whether a person chose the name: labels with a prefix, and environment variables. */
const isGiven = (name: string): boolean => name.includes('/') || /^[A-Z_][A-Z0-9_]*$/.test(name)

/** An amount, or the range of the amounts of several nodes. */
function showAmount(part: Json, format: (amount: number) => string): string {
  if (typeof part === 'number') return format(part)
  if (part !== null && typeof part === 'object' && !Array.isArray(part)) {
    const { least, most } = part
    if (typeof least === 'number' && typeof most === 'number') return `${format(least)} to ${format(most)}`
  }
  return showValue(part)
}

/** Words of a name: `blockedCountries` and `label_constraint` become `blocked countries` and `label constraint`. */
export const wordsOf = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
