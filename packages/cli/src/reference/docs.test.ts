// Checks that docs/cli matches the command table, and that every command has a summary and an example.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS, GROUPS } from '../commands/index.ts'
import { renderPages } from './docs.ts'

const FOLDER = join(import.meta.dirname, '../../../../docs/cli')

test('docs/cli matches the command table (`node scripts/build-cli.ts --docs` regenerates it)', () => {
  const pages = renderPages()
  expect(readdirSync(FOLDER).sort()).toEqual([...pages.keys()].sort())
  for (const [name, page] of pages) expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(page)
})

describe('every command has a summary and an example', () => {
  test.each(COMMANDS.map((command) => [command.name, command] as const))('%s', (name, command) => {
    expect(command.examples.length).toBeGreaterThan(0)
    for (const [typed] of command.examples) expect(typed).toContain(`holdfast ${name.split(' ')[0]}`)
    expect(command.summary).toMatch(/^[a-z].*[^.]$/)
    if (name.includes(' ')) expect(GROUPS).toHaveProperty(name.split(' ')[0] ?? '')
  })
})
