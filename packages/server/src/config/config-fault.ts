// One fault of the configuration: its place, the setting, the value received and the values accepted. Faults are printed
// and logged, so a fault never quotes a value that may be secret.

import { describeReceived } from '@holdfast/core'
import { mayHoldSecret } from './settings-table.ts'

export type ConfigFaultKind =
  | 'syntax'
  | 'duplicate'
  | 'alias'
  | 'tag'
  | 'unknown'
  | 'type'
  | 'missing'
  | 'range'
  | 'form'
  | 'conflict'
  | 'file'

export interface ConfigFault {
  readonly kind: ConfigFaultKind
  /** Place of the fault: `file:line:column`, or the name of an environment variable. */
  readonly where: string
  /** Path of the setting; empty for the file as a whole. */
  readonly field: string
  /** The value received; empty when there was no value. */
  readonly received: string
  readonly expected: string
  /** The known name that the operator probably meant. */
  readonly suggestion?: string
}

/** Text that replaces secret values, and values with an unknown name, which may be a misspelled `password`. */
export const REDACTED = '<redacted>'

/** Returns the value as JSON, strings without quotes. Texts with `@` are redacted: they may be a URL with a password. */
export function quoteReceived(path: string, value: unknown): string {
  if (value === undefined) return ''
  const text = JSON.stringify(value)
  if (mayHoldSecret(path) || text.includes('@')) return REDACTED
  const isInvisible = typeof value === 'string' && (value === '' || value.trim() !== value)
  return describeReceived('', isInvisible ? text : JSON.parse(text))
}

/** Formats a fault as one line for a terminal that begins with the place, like the error of a compiler. */
export function explainFault(fault: ConfigFault): string {
  const field = fault.field === '' ? '' : `${fault.field}: `
  const received = fault.received === '' ? '' : `received ${fault.received}, `
  const meant = fault.suggestion === undefined ? '' : `; did you mean ${fault.suggestion}?`
  return `${fault.where}: ${field}${received}expected ${fault.expected}${meant}`
}
