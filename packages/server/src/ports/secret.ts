// A value that must not be seen: it redacts itself wherever text is made of it. Only reveal() gives it. SAFETY 2 row 4.

/** util.inspect looks for this registered symbol; naming it here needs no import. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const REDACTED = '<redacted>'

export interface Secret {
  /** Call it only where the value leaves for its one destination; never keep what it returns. */
  reveal(): string
  toString(): string
  toJSON(): string
}

/** The value lives in a closure: no property, no enumeration, no structured clone reaches it. */
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
