// What the program itself answers, whatever the commands are.

import { expect, test } from 'vitest'
import about from '../package.json' with { type: 'json' }
import { buildProgram } from './program.ts'

test('--version is that of the package', async () => {
  const printed: string[] = []
  const parts = { commands: [], groups: {}, err: () => {}, onChosen: () => Promise.resolve() }
  const program = buildProgram({ ...parts, out: (text) => void printed.push(text) })
  await expect(program.parseAsync(['--version'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 })
  expect(printed).toEqual([`${about.version}\n`])
})
