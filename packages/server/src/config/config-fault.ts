// One fault of the configuration: where it stands, which setting it is about, what came and what is accepted. A fault
// is printed on terminals and kept in logs, so nothing that may be secret is ever quoted. SAFETY 2 row 4.

import { describeReceived } from '@holdfast/core'
import { mayHoldSecret } from './leaves.ts'

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
  /** `file:line:column`, or the name of an environment variable. */
  readonly where: string
  /** The setting's path; empty for the file as a whole. */
  readonly field: string
  /** Empty when nothing came. */
  readonly received: string
  readonly expected: string
  /** The known name that was probably meant. */
  readonly suggestion?: string
}

const REDACTED = '<redacted>'

/** The value as JSON text, strings bare. `@` may end a user and password of an address: such a text is not quoted. */
export function quoteReceived(path: string, value: unknown): string {
  if (value === undefined) return ''
  const text = JSON.stringify(value)
  if (mayHoldSecret(path) || text.includes('@')) return REDACTED
  const hidden = typeof value === 'string' && (value === '' || value.trim() !== value)
  return describeReceived('', hidden ? text : JSON.parse(text))
}

/** For values whose place says nothing about them: what stands under an unknown name may be a misspelt password. */
export const receivedUnknown = (value: unknown): string => (value === undefined ? '' : REDACTED)

/** One line for a terminal, the place first as compilers write it. */
export function explainFault(fault: ConfigFault): string {
  const field = fault.field === '' ? '' : `${fault.field}: `
  const received = fault.received === '' ? '' : `received ${fault.received}, `
  const meant = fault.suggestion === undefined ? '' : `; did you mean ${fault.suggestion}?`
  return `${fault.where}: ${field}${received}expected ${fault.expected}${meant}`
}
