// Where the strict JSON reader stands in the text, and how it fails: the first fault is noted once, and the readers unwind
// by returning undefined, each adding its key or index, so that a sound body pays nothing for the path of a fault.

export type StrictJsonFaultKind = 'syntax' | 'duplicate_key' | 'depth' | 'values' | 'encoding' | 'number'

interface Failure {
  readonly kind: StrictJsonFaultKind
  /** Index into the text, not yet into the bytes. */
  readonly at: number
  readonly message: string
}

export interface Cursor {
  readonly text: string
  at: number
  readonly maxDepth: number
  readonly maxValues: number
  /** Members and elements so far. */
  values: number
  failure: Failure | undefined
  /** Keys and indexes from the fault outwards. */
  readonly trail: (string | number)[]
}

/** Message: what was expected, never what came, which may be a secret. */
export function fail(cursor: Cursor, kind: StrictJsonFaultKind, at: number, message: string): undefined {
  cursor.failure = { kind, at, message }
  return undefined
}

/** Called by each reader that a failure passes through. */
export function unwind(cursor: Cursor, segment: string | number): undefined {
  cursor.trail.push(segment)
  return undefined
}
