// The simulation output that the guide shows equals the current output of the simulator for the same script.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { simulate } from '@holdfast/simulation/script/simulate-command'
import { expect, test } from 'vitest'
import { matchesShown } from '../../scripts/first-minutes/matches-shown.ts'
import { readWalk } from '../../scripts/first-minutes/read-walk.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/why-is-it-not-running.md'), 'utf8')
const SIMULATES = /^npx holdfast-simulate (examples\/\S+)$/

const shown = readWalk(GUIDE, '7. What if a machine dies?').flatMap(({ text, shown: lines }) => {
  const [, file] = SIMULATES.exec(text) ?? []
  return file === undefined ? [] : [{ file, lines }]
})

test('the guide shows simulations', () => expect(shown.length).toBeGreaterThan(1))

test.each(shown)('the guide shows the output of $file', async ({ file, lines }) => {
  const { text } = await simulate({ file: join(ROOT, file), seed: undefined })
  expect(matchesShown(lines, text), text).toBe(true)
})
