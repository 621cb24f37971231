// One fault of the configuration: where it stands, which setting it is about, what came and what is accepted. A fault
// is printed on terminals and kept in logs, so nothing that may be secret is ever quoted. SAFETY 2 row 4.

import { describeReceived, detectCredential } from '@holdfast/core'
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
  if (mayHoldSecret(path) || textsIn(value).some(mayBeSecret)) return REDACTED
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const hidden = typeof value === 'string' && (text === '' || text.trim() !== text)
  return describeReceived('', hidden ? JSON.stringify(text) : text)
}

function mayBeSecret(text: string): boolean {
  return text.includes('@') || detectCredential('', text) !== undefined
}

/** Every text in a value, names included. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)])
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
