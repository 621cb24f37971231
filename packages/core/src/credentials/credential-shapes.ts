// Detects credentials by the form of a value: provider prefixes, PEM, JWT, URLs with a password.

import { CREDENTIAL_SHAPES, type CredentialShape } from './credential-shape-table.ts'

const SHORTEST = Math.min(...CREDENTIAL_SHAPES.map((shape) => shape.minLength))

// One combined search rules out most values; the single patterns only name a hit.
const GATES = ['', 'i'].map((flags) =>
  anyOf(
    CREDENTIAL_SHAPES.filter((shape) => shape.pattern.flags === flags),
    flags,
  ),
)

function anyOf(shapes: readonly CredentialShape[], flags: string): RegExp {
  return new RegExp(shapes.map((shape) => `(?:${shape.pattern.source})`).join('|'), flags)
}

/** The name of the first known shape anywhere in the value, never the value. Linear in its length. */
export function credentialShapeOf(value: string): string | undefined {
  if (value.length < SHORTEST) return undefined
  if (!GATES.some((gate) => gate.test(value))) return undefined
  return CREDENTIAL_SHAPES.find((shape) => value.length >= shape.minLength && shape.pattern.test(value))?.name
}
