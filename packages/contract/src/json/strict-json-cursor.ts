// The position of the strict JSON reader, and its error handling. The cursor stores the first fault; each function on the
// call stack then returns undefined and adds its key or index to the path, so that valid bodies need no work for paths.

export type StrictJsonFaultKind = 'syntax' | 'duplicate_key' | 'depth' | 'values' | 'encoding' | 'number'

interface Failure {
  readonly kind: StrictJsonFaultKind
  /** Position of the fault as an index into the text. It is converted to a byte offset later. */
  readonly at: number
  readonly message: string
}

export interface Cursor {
  readonly text: string
  at: number
  readonly maxDepth: number
  readonly maxValues: number
  /** Number of object members and list elements read so far. */
  values: number
  failure: Failure | undefined
  /** Keys and indexes that lead from the fault outward to the top of the body. */
  readonly trail: (string | number)[]
}

/** Records a fault. The message names what was expected, never what was received, because that may be a secret. */
export function fail(cursor: Cursor, kind: StrictJsonFaultKind, at: number, message: string): undefined {
  cursor.failure = { kind, at, message }
  return undefined
}

/** Adds a key or index to the path of a fault. Called by each function that the fault passes through. */
export function unwind(cursor: Cursor, segment: string | number): undefined {
  cursor.trail.push(segment)
  return undefined
}
