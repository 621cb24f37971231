import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { secret } from './secret.ts'

const CANARY = 'canary-4711'

test('a secret appears in no text and only reveal returns it', () => {
  const held = secret(CANARY)
  const texts = [
    String(held),
    `${held}`,
    `text ${String(held)}`,
    JSON.stringify({ held, list: [held] }),
    inspect(held, { showHidden: true, depth: 9, customInspect: false }),
    inspect({ deep: [{ held }] }, { depth: 9 }),
    Object.values(held).map(String).join(),
    new Error(`failed for ${held}`).message,
  ]
  for (const text of texts) expect(text).not.toContain(CANARY)
  expect(held.reveal()).toBe(CANARY)
})
