// Labelled examples for measuring the credential detector. Every credential is invented and assembled at run time, so
// that no source file contains a credential.

export interface CorpusEntry {
  readonly key: string
  readonly value: string
  /** Whether a careful reviewer would want the value in the secrets store. */
  readonly credential: boolean
  readonly note: string
}

type Row = readonly [key: string, value: string, note: string]

export function labelled(credential: boolean, rows: readonly Row[]): CorpusEntry[] {
  return rows.map(([key, value, note]) => ({ key, value, credential, note }))
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'

let state = 20_240_817

/** A fixed pseudo-random text, so that every run uses the same corpus. */
function fill(length: number, alphabet: string): string {
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += alphabet.charAt(Math.floor((state / 2 ** 32) * alphabet.length))
  }
  return text
}

export const digits = (length: number): string => fill(length, DIGITS)
export const hex = (length: number): string => fill(length, `${DIGITS}abcdef`)
export const letters = (length: number): string => fill(length, UPPER + LOWER)
export const upper = (length: number): string => fill(length, UPPER + DIGITS)
export const alnum = (length: number): string => fill(length, UPPER + LOWER + DIGITS)
export const uuid = (): string => [8, 4, 4, 4, 12].map(hex).join('-')
