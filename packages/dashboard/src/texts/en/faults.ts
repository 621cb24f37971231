// The first sentence of a fault in a manifest: what is wrong. The reason and the accepted values follow it.

export const faultTexts = {
  unknownField: 'This field does not exist.',
  missing: 'This field is missing.',
  hiddenValue: 'This value is not accepted.',
  value: (received: string) => `${received} is not accepted.`,
  why: 'Why',
} as const
