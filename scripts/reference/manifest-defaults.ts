// The default of each manifest field, from the constants with which the server fills in defaults.

import { type Json, jsonText } from '@holdfast/contract'
import {
  ELEMENT_DEFAULTS,
  FIELD_DEFAULTS,
  INNER_DEFAULTS,
  SECRET_ENTRY_DEFAULTS,
} from '@holdfast/core/admission/normalize/defaults'
import { code } from './page.ts'

const DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ...FIELD_DEFAULTS,
  ...[...INNER_DEFAULTS].flatMap(([field, inner]) => membersOf(field, inner)),
  ...[...ELEMENT_DEFAULTS].flatMap(([field, inner]) => membersOf(`${field}[*]`, inner)),
  ...membersOf('secrets[*]', SECRET_ENTRY_DEFAULTS),
])

function membersOf(at: string, members: { readonly [name: string]: Json }): [string, Json][] {
  return Object.entries(members).map(([name, value]) => [`${at}.${name}`, value])
}

export function defaultOf(at: string): string {
  const value = DEFAULTS.get(at)
  return value === undefined ? '' : code(jsonText(value))
}
