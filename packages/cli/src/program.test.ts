// Tests of the command-line program itself, independent of single commands.

import { expect, test } from 'vitest'
import about from '../package.json' with { type: 'json' }
import { buildProgram } from './program.ts'

test('prints the version of the package with --version', async () => {
  const printed: string[] = []
  const parts = { commands: [], groups: {}, err: () => {}, onChosen: () => Promise.resolve() }
  const program = buildProgram({ ...parts, out: (text) => void printed.push(text) })
  await expect(program.parseAsync(['--version'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 })
  expect(printed).toEqual([`${about.version}\n`])
})
