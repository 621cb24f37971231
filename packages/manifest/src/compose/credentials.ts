// Decides which texts of a Compose file are credentials and must appear neither in a manifest nor in the report.

import { describeReceived, detectCredential } from '@holdfast/core/admission'
import { textOf, type Written, type WrittenScalar } from './source/written.ts'

/** A text that no rule recognizes by its form, in order to ask whether a name alone suggests a credential. */
const ANY_VALUE = 'any value'

const namesCredential = (name: string): boolean => detectCredential(name, ANY_VALUE) !== undefined

/**
 * Whether the value of a variable is a credential: by its name, by its form, or because it comes from a variable whose
 * name suggests one. A variable without a value has the value that the container would get later.
 */
export function isCredential(key: string, { text, variables, unset }: WrittenScalar): boolean {
  const value = unset.length > 0 && (text ?? '') === '' ? ANY_VALUE : (text ?? '')
  return [key, ...variables].some((name) => detectCredential(name, value) !== undefined)
}

/** The credentials of one Compose file. */
export interface KnownCredentials {
  /** Learns the value of a variable that is a credential. */
  add(value: string): void
  /** Whether a text of a command, a check, a label or another variable contains a credential. */
  isIn(text: string): boolean
  /** A text for the report: redacted if it contains a credential. */
  shown(text: string): string
}

const LEAST_CHARACTERS = 8
/** Matches words such as `postgres`, which are passwords in examples and appear in commands for other reasons. */
const WORD = /^[a-z]+$/
const USERINFO = /:\/\/[^\s/:@]{0,256}:([^\s/@]{1,256})@/g

/** Learns the credentials in the texts of a file. Those of variables are added by their names. */
export function createKnownCredentials(file: Written): KnownCredentials {
  const values = new Set<string>()
  const keep = (value: string): void => {
    if (value.length >= LEAST_CHARACTERS && !WORD.test(value)) values.add(value)
  }
  const add = (value: string): void => {
    keep(value)
    for (const [, password = ''] of value.matchAll(USERINFO)) keep(password)
  }
  for (const text of textsIn(file)) for (const value of credentialsIn(text)) add(value)
  const isIn = (text: string): boolean =>
    [...values].some((value) => text.includes(value)) || credentialsIn(text).length > 0
  return { add, isIn, shown: (text) => (isIn(text) ? '<redacted>' : describeReceived('', text)) }
}

/** The texts in a part of a file. The elements of a list are one text, too, because a command may be a list of words. */
function textsIn(node: Written): string[] {
  if (node.kind === 'scalar') return node.text === null ? [] : [node.text]
  if (node.kind === 'map') return [...node.members.values()].flatMap(textsIn)
  const words = node.items.flatMap((item) => textOf(item) ?? [])
  return [words.join(' '), ...node.items.flatMap(textsIn)]
}

/** Whether a text contains the value of a variable whose name suggests a credential. */
export function isFromVariable(node: Written): boolean {
  if (node.kind === 'scalar') return node.variables.some(namesCredential)
  return node.kind === 'list' ? node.items.some(isFromVariable) : false
}

const ASSIGNMENT = /^-{0,2}([A-Za-z][A-Za-z0-9_.-]{0,127})[=:](.+)$/s
const FLAG = /^--?([A-Za-z][A-Za-z0-9_.-]{0,127})$/

/** The words of a text that have the form of a credential, and the values after a name that suggests one. */
function credentialsIn(text: string): string[] {
  const whole = detectCredential('', text) === undefined ? [] : [text]
  const words = text.split(/[\s"'`]+/)
  return [...whole, ...words.flatMap((word, at) => credentialIn(word, words[at + 1] ?? '') ?? [])]
}

function credentialIn(word: string, next: string): string | undefined {
  if (detectCredential('', word) !== undefined) return word
  const [, name, value] = ASSIGNMENT.exec(word) ?? [undefined, FLAG.exec(word)?.[1], next]
  if (name === undefined || value === undefined || !isLiteral(value)) return undefined
  return detectCredential(name, value) === undefined ? undefined : value
}

/** A value that a shell in the container replaces, another flag and nothing are no credentials. */
const isLiteral = (value: string): boolean => value !== '' && !/^[$-]/.test(value)
