// A value that redacts itself in every text form. Only reveal() returns it. See docs/design/secrets.md#redaction.

/** util.inspect uses this registered symbol. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const REDACTED = '<redacted>'

export interface Secret {
  /** Call it only where the value is sent to its destination, and do not store the result. */
  reveal(): string
  toString(): string
  toJSON(): string
}

/** The value is in a closure, out of reach for property access, enumeration and structured clone. */
export function secret(value: string): Secret {
  const redacted = () => REDACTED
  return Object.freeze({
    reveal: () => value,
    toString: redacted,
    toJSON: redacted,
    [INSPECT]: redacted,
    [Symbol.toPrimitive]: redacted,
  })
}
