// Secrets made for one purpose: to be looked for where none may be. Each is unique, says which planting it came from, and
// begins with the same word, so that one search finds them all.

/** No other text of the product or of a test holds it. */
const CANARY_WORD = 'Zq7Canary'

interface Canary {
  /** What is planted. */
  readonly text: string
  /** What must not be found. */
  readonly secret: string
}

export interface CanarySource {
  /** Of a known credential shape: redacted wherever it stands. */
  shaped(): Canary[]
  /** Of no shape: to be redacted where a secret belongs. */
  bare(): Canary
}

export function createCanarySource(): CanarySource {
  let planted = 0
  const next = () => `${CANARY_WORD}${String(planted++).padStart(8, '0')}`
  const shape = (wrap: (secret: string) => string): Canary => {
    const secret = next()
    return { text: wrap(secret), secret }
  }
  return {
    shaped: () => [
      shape((secret) => `hf_${'0'.repeat(26)}_${secret.padEnd(43, 'x')}`),
      shape((secret) => `https://user:${secret}@example.com/path`),
      shape((secret) => `ghp_${secret.padEnd(36, 'x')}`),
    ],
    bare: () => shape((secret) => secret),
  }
}

/** The word as it is, and as it looks inside base64 at each of the three places where it can begin. */
export const CANARY_FORMS: readonly string[] = [
  CANARY_WORD,
  CANARY_WORD.toLowerCase(),
  ...[0, 1, 2].map((shift) => {
    const encoded = Buffer.from(`${'\0'.repeat(shift)}${CANARY_WORD}`).toString('base64')
    // What stands at the edges depends on the neighbours.
    return encoded.slice(shift === 0 ? 0 : 4, -4)
  }),
]

/** The piece of text around the first canary in it, whatever its form; undefined: there is none. */
export function findCanary(text: string): string | undefined {
  for (const form of CANARY_FORMS) {
    const at = text.indexOf(form)
    if (at >= 0) return text.slice(Math.max(0, at - 120), at + 60)
  }
  return undefined
}
