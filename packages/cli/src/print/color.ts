// Colours, where they are wanted. A colour never says anything that the words do not say.

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90, bold: 1 } as const
export type Color = keyof typeof CODES

export const paint = (text: string, color: Color, wanted: boolean): string =>
  wanted ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text
