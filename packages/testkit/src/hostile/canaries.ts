// Canaries: fake secrets that tests plant and then search for in places where no secret may be. Each canary is unique and
// identifies where it was planted. All begin with the same word, so that one search finds all of them.

/** The word that begins every canary. It occurs in no other text of the product or of a test. */
const CANARY_WORD = 'Zq7Canary'

interface Canary {
  /** The complete text of the fake secret that a test plants in a request. */
  readonly text: string
  /** The part of the planted text that must appear in no response, log or file. */
  readonly secret: string
}

export interface CanarySource {
  /** Canaries in known credential formats, which the product redacts everywhere. */
  shaped(): Canary[]
  /** A canary in no known credential format, which the product redacts only where a secret belongs. */
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

/** The word of all canaries in plain text, and in base64 at each of the three possible offsets. */
export const CANARY_FORMS: readonly string[] = [
  CANARY_WORD,
  CANARY_WORD.toLowerCase(),
  ...[0, 1, 2].map((shift) => {
    const encoded = Buffer.from(`${'\0'.repeat(shift)}${CANARY_WORD}`).toString('base64')
    // The base64 characters at both edges depend on neighboring bytes, so they are left out.
    return encoded.slice(shift === 0 ? 0 : 4, -4)
  }),
]

/** The text around the first canary in any encoding; undefined if the text contains no canary. */
export function findCanary(text: string): string | undefined {
  for (const form of CANARY_FORMS) {
    const at = text.indexOf(form)
    if (at >= 0) return text.slice(Math.max(0, at - 120), at + 60)
  }
  return undefined
}
