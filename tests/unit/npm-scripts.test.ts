// `npm run help` names every npm script, in one line each, and no other.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../scripts/help/commands.ts'

const ROOT = join(import.meta.dirname, '../..')
const named = COMMANDS.flatMap(({ scripts }) => scripts)

test('npm run help lists the scripts of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(named.map(({ name }) => name).toSorted()).toEqual(Object.keys(scripts).toSorted())
})

test('each line of npm run help fits a terminal', () => {
  for (const { name, what } of named)
    expect(`  npm run ${name}  ${what}`.length, name).toBeLessThanOrEqual(100)
})

test('CONTRIBUTING names only scripts that exist', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const used = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name)
  expect(used.length).toBeGreaterThan(5)
  for (const name of used) expect(named.map((each) => each.name)).toContain(name)
})
