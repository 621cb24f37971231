// The request that closed a node for new replicas, from the audit trail.

import type { AuditEntry } from '@holdfast/contract'

const CLOSES = ['nodes:cordoned', 'nodes:drained', 'nodes:removed']
const OPENS = ['nodes:uncordoned', 'nodes:enrolled']

/** The request that closed the node; undefined if it is open or the entry is no longer kept. Entries are newest first. */
export function closedBy(entries: readonly AuditEntry[]): AuditEntry | undefined {
  const last = entries.find(
    ({ action, subject }) => subject.kind === 'Node' && [...CLOSES, ...OPENS].includes(action),
  )
  return last !== undefined && CLOSES.includes(last.action) ? last : undefined
}
