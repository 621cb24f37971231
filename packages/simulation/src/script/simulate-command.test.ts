import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { simulate } from './simulate-command.ts'

const example = (name: string): string => join(import.meta.dirname, '../../../../examples', name)

test('prints the example of a lost machine line by line, with a summary', async () => {
  const { exitCode, text } = await simulate({ file: example('simulate-node-lost.yaml'), seed: undefined })
  expect(exitCode).toBe(0)
  expect(text).toMatch(/^ +0:30\.0 > +node n2 +loses its power\.$/m)
  expect(text).toMatch(
    /^ +2:\d\d\.\d +warning +deployment hello +Node n2 is lost: replica 2 is replaced on n[13]\./m,
  )
  expect(text).toMatch(/^3 steps of the script, \d+ events, \d+ turns of the simulation, seed 1$/m)
  expect(text).toMatch(/^\d+ invariants asked \d+ times: all hold$/m)
  expect(text).toMatch(/^trace [0-9a-f]{64}$/m)
})

test('ends the example of residency with every replica where it may be', async () => {
  const { exitCode, text } = await simulate({ file: example('simulate-residency.yaml'), seed: 3 })
  expect(exitCode).toBe(0)
  expect(text).toContain('Node berlin no longer qualifies')
  expect(text).toContain('ready on munich')
  expect(text).not.toMatch(/started on paris/)
})

test('prints the same text for the same file', async () => {
  const options = { file: example('simulate-node-lost.yaml'), seed: 5 }
  expect(await simulate(options)).toEqual(await simulate(options))
})

test('does not run a script with faults', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'hf-simulate-')), 'wrong.yaml')
  writeFileSync(file, 'cluster: { tenants: [], nodes: [] }\nsteps: [{ at: 1s, do: dance }]\n')
  const { exitCode, text } = await simulate({ file, seed: undefined })
  expect(exitCode).toBe(2)
  expect(text).toContain('wrong.yaml:2:23: steps[0].do: received dance')
  expect(text).toContain('1 fault in the script; nothing was run')
  const missing = await simulate({ file: `${file}.not`, seed: undefined })
  expect(missing).toMatchObject({ exitCode: 2, text: expect.stringContaining('ENOENT') })
})
