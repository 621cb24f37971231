// The rows and columns of the why matrix: nodes, or groups of nodes with equal reasons, against the filters that refuse.

import { type Candidate, FILTERS, type Json, type NodeGroup } from '@holdfast/contract'

export interface MatrixReason {
  readonly filter: string
  readonly code: string
  readonly required: Json
  readonly reported: Json
  readonly fix?: string | undefined
}

export interface MatrixRow {
  readonly id: string
  readonly name: string
  /** Names of the nodes of a group. */
  readonly members?: readonly string[]
  readonly reasons: readonly MatrixReason[]
  readonly remedy?: string | undefined
}

export const rowOfCandidate = ({ nodeId, nodeName, refusals, cure }: Candidate): MatrixRow => ({
  id: nodeId,
  name: nodeName,
  reasons: refusals,
  remedy: cure?.text,
})

export const rowOfGroup = ({ nodes, reasons, cure }: NodeGroup, name: string): MatrixRow => ({
  id: reasons.map(({ code, required }) => `${code} ${JSON.stringify(required)}`).join('; '),
  name,
  members: nodes,
  reasons,
  remedy: cure?.text,
})

/** The filters that refuse at least one node, in the order of the server; filters of a newer server come last. */
export function refusingFilters(rows: readonly MatrixRow[]): string[] {
  const found = new Set(rows.flatMap(({ reasons }) => reasons.map(({ filter }) => filter)))
  const known = FILTERS.filter((filter) => found.delete(filter))
  return [...known, ...[...found].sort()]
}

/** Every known filter, and those of a newer server that refuse a node. */
export function allFilters(rows: readonly MatrixRow[]): string[] {
  const known = new Set<string>(FILTERS)
  return [...FILTERS, ...refusingFilters(rows).filter((filter) => !known.has(filter))]
}
