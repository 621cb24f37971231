// Detects credentials by the form of a value: provider prefixes, PEM, JWT, URLs with a password.

import { CREDENTIAL_SHAPES, type CredentialShape } from './credential-shape-table.ts'

const SHORTEST = Math.min(...CREDENTIAL_SHAPES.map((shape) => shape.minLength))

// The combined patterns exclude most values fast. For other values, the individual patterns find the name of the form.
const GATES = ['', 'i'].map((flags) =>
  anyOf(
    CREDENTIAL_SHAPES.filter((shape) => shape.pattern.flags === flags),
    flags,
  ),
)

function anyOf(shapes: readonly CredentialShape[], flags: string): RegExp {
  return new RegExp(shapes.map((shape) => `(?:${shape.pattern.source})`).join('|'), flags)
}

/** The name of the first known credential form found anywhere in the value. The time is linear in the length. */
export function credentialShapeOf(value: string): string | undefined {
  if (value.length < SHORTEST) return undefined
  if (!GATES.some((gate) => gate.test(value))) return undefined
  return CREDENTIAL_SHAPES.find((shape) => value.length >= shape.minLength && shape.pattern.test(value))?.name
}
