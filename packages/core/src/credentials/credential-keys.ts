// Detects credentials by the name of a variable. Names are split into words, so that AUTHOR, KEYBOARD and SECRETARY do
// not match, and DB_PASSWORD_MIN_LENGTH is recognized as a length.

import { remember } from '../remember.ts'
import {
  ABOUT_WORDS,
  CREDENTIAL_ENDINGS,
  CREDENTIAL_WORDS,
  KEY_KINDS,
  LAST_WORDS,
  SWITCH_WORDS,
} from './credential-key-words.ts'

/** Whether a variable name suggests a credential. `detectCredential` also checks the value. */
export const namesCredential = remember(judgeName)

function judgeName(key: string): boolean {
  const words = wordsOf(key)
  const last = words.at(-1)
  if (last === undefined || key === 'PWD' || key === 'OLDPWD') return false
  if (words.some((word) => SWITCH_WORDS.has(word))) return false
  if (isIdentityHalf(words)) return true
  if (ABOUT_WORDS.has(last)) return false
  return (
    LAST_WORDS.has(last) || words.some(isCredentialWord) || namesKey(words) || namesConnectionString(words)
  )
}

/** Splits a variable name into lower-case words at punctuation and changes of case. Trailing numbers are dropped. */
export function wordsOf(key: string): string[] {
  const words = key
    .slice(0, 512)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '')
  while (/^v?[0-9]{1,9}$/.test(words.at(-1) ?? '')) words.pop()
  return words
}

function isCredentialWord(word: string): boolean {
  const bare = word.replace(/[0-9]{1,9}$/, '')
  return CREDENTIAL_WORDS.has(bare) || CREDENTIAL_ENDINGS.some((ending) => bare.endsWith(ending))
}

/** Whether a name ends like ACCESS_KEY_ID or SECRET_ID, which look like ids but are half of a key pair. */
function isIdentityHalf(words: readonly string[]): boolean {
  const end = words.slice(-3).join(' ')
  return end.endsWith('access key id') || end.endsWith('secret id')
}

function namesKey(words: readonly string[]): boolean {
  return words.some((word, at) => /^keys?$/.test(word) && KEY_KINDS.has(words[at - 1] ?? ''))
}

function namesConnectionString(words: readonly string[]): boolean {
  return words.some(
    (word, at) => /^conn(?:ection)?$/.test(word) && /^str(?:ings?)?$/.test(words[at + 1] ?? ''),
  )
}
