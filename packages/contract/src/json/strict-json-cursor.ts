// The position of the strict JSON reader, and how it fails. The first fault is recorded once; the readers then return
// undefined, each adding its key or index to the path. Valid bodies pay nothing for paths.

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
  /** Members and elements read so far. */
  values: number
  failure: Failure | undefined
  /** Keys and indexes from the fault outward. */
  readonly trail: (string | number)[]
}

/** The message names what was expected, never what was received, which may be a secret. */
export function fail(cursor: Cursor, kind: StrictJsonFaultKind, at: number, message: string): undefined {
  cursor.failure = { kind, at, message }
  return undefined
}

/** Called by each reader that a failure passes through, to add its step to the path. */
export function unwind(cursor: Cursor, segment: string | number): undefined {
  cursor.trail.push(segment)
  return undefined
}
