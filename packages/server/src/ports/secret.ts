// A secret value that appears as `<redacted>` in texts. Only reveal() returns it. See docs/design/secrets.md#redaction.

/** The registered symbol by which util.inspect finds an object's own text form. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const REDACTED = '<redacted>'

export interface Secret {
  /** Returns the secret value. Call only where the value is sent to its destination, and do not store the result. */
  reveal(): string
  toString(): string
  toJSON(): string
}

/** Creates a Secret. The value is in a closure, out of reach of property access, enumeration and structured clone. */
export const secret = (value: string): Secret => secretFrom(() => value)

/** Creates a Secret whose value may change: `read` is called each time that the value is sent to its destination. */
export function secretFrom(read: () => string): Secret {
  const redacted = () => REDACTED
  return Object.freeze({
    reveal: read,
    toString: redacted,
    toJSON: redacted,
    [INSPECT]: redacted,
    [Symbol.toPrimitive]: redacted,
  })
}
