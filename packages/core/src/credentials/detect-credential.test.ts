import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { describe, expect, test } from 'vitest'
import { CREDENTIALS } from './corpus-credentials.fixture.ts'
import { HARMLESS } from './corpus-harmless.fixture.ts'
import { detectCredential } from './detect-credential.ts'

const CORPUS = [...CREDENTIALS, ...HARMLESS]

describe('detectCredential on the corpus', () => {
  test('runs on a large corpus without duplicates', () => {
    expect(CREDENTIALS.length).toBeGreaterThanOrEqual(200)
    expect(HARMLESS.length).toBeGreaterThanOrEqual(200)
    expect(new Set(CORPUS.map((entry) => `${entry.key}=${entry.value}`)).size).toBe(CORPUS.length)
  })

  test('has a recall of at least 0.98 and a precision of at least 0.97', () => {
    const found = CORPUS.filter((entry) => detectCredential(entry.key, entry.value) !== undefined)
    const right = found.filter((entry) => entry.credential).length
    const recall = right / CREDENTIALS.length
    const precision = right / found.length
    console.log(
      `credential detection: recall ${recall.toFixed(4)} precision ${precision.toFixed(4)} over ${CORPUS.length} examples`,
    )
    const wrong = CORPUS.filter((entry) => found.includes(entry) !== entry.credential)
    expect(wrong.map((entry) => `${entry.key}: ${entry.note}`).sort()).toEqual(KNOWN_MISTAKES)
    expect(recall).toBeGreaterThanOrEqual(0.98)
    expect(precision).toBeGreaterThanOrEqual(0.97)
  })

  test('finds everything that secretlint reports', async () => {
    const missed: string[] = []
    let reported = 0
    for (const entry of CORPUS) {
      const found = [...(await oracle(entry.value)), ...(await oracle(`${entry.key}=${entry.value}`))]
      if (found.length > 0) reported++
      if (found.length > 0 && detectCredential(entry.key, entry.value) === undefined) {
        missed.push(`${entry.key}: ${found.join(', ')}`)
      }
    }
    console.log(
      `credential detection: the oracle reports ${reported} examples, ${missed.length} of them not found by us`,
    )
    expect(reported).toBeGreaterThan(40)
    expect(missed).toEqual([])
  })

  test('finds every shape that secretlint reports by form alone', async () => {
    const missed: string[] = []
    for (const entry of CREDENTIALS) {
      const found = await oracle(entry.value)
      if (found.length > 0 && detectCredential('X', entry.value)?.reason !== 'value') missed.push(entry.key)
    }
    expect(missed).toEqual([])
  })
})

/** Corpus entries that the detector judges wrongly, listed by name so that any change is visible in this test. */
const KNOWN_MISTAKES: readonly string[] = [
  'ADMIN_LOGIN: a pair in one value',
  'DEFAULT_CONNECTION_STRING: connection string without a password',
  'LICENCE: a licence code',
  'SECRET_SANTA: a game',
  'TOKEN_COLOR: a board game',
  'TWILIO_SID_AND_KEY: hexadecimal under a vague name',
]

async function oracle(content: string): Promise<string[]> {
  const result = await lintSource({
    source: { content, filePath: 'environment.txt', ext: '.txt', contentType: 'text' },
    options: { config: { rules: [{ id: 'preset', rule: creator, options: {} }] } },
  })
  return result.messages.map((message) => message.ruleId)
}
