// The single binaries start in an empty folder with an empty PATH, and the command line calls a real server.

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { bundledCli } from '@holdfast/testkit/cli/run-cli'
import { type CliWorld, startCliWorld } from '@holdfast/testkit/cli/start-world'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeBinaries } from '../../../scripts/package/binary/write-binaries.ts'
import { bundleAgentBinary } from '../../../scripts/package/bundles/bundles.ts'
import { releaseFacts } from '../../../scripts/package/release-facts.ts'

/** Node copies itself into each binary, 150 MB, while other tests use the disk and the processors. */
const DEADLINE_MS = 300_000
const folder = makeTempFolder('binaries')
const [empty, into] = ['empty', 'into'].map((name) => join(folder.path, name)) as [string, string]
const paths = { holdfast: '', 'holdfast-agent': '', 'holdfast-fencer': join(folder.path, 'holdfast-fencer') }
let world: CliWorld

beforeAll(async () => {
  mkdirSync(empty)
  mkdirSync(into)
  const agent = await bundleAgentBinary(join(folder.path, 'bundle'))
  const sources = [
    { command: 'holdfast', bundle: await bundledCli() },
    { command: 'holdfast-agent', bundle: agent.file },
  ]
  await writeBinaries(sources, releaseFacts(), { into, work: join(folder.path, 'work') })
  for (const file of readdirSync(into))
    paths[file.startsWith('holdfast-agent_') ? 'holdfast-agent' : 'holdfast'] = join(into, file)
  symlinkSync(paths['holdfast-agent'], paths['holdfast-fencer'])
  world = await startCliWorld([])
}, DEADLINE_MS)
afterAll(async () => {
  await world?.stop()
  folder.remove()
})

const run = (command: keyof typeof paths, words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(paths[command], words, { cwd: empty, env: { PATH: '', ...env }, timeout: 60_000 })

test.each([
  ['holdfast', /^Usage: holdfast /],
  ['holdfast-agent', /^holdfast-agent: the node agent/],
  ['holdfast-fencer', /^holdfast-fencer: ends the writers/],
] as const)('%s starts without Node, without a shell and without warnings', async (command, firstLine) => {
  const { stdout, stderr } = await run(command, ['--help'])
  expect(stdout).toMatch(firstLine)
  expect(stderr).toBe('')
})

test('holdfast calls a server', async () => {
  const { baseUrl, acme } = world.platform
  const { stdout } = await run('holdfast', ['version'], {
    HOLDFAST_URL: baseUrl,
    HOLDFAST_TOKEN: acme.token,
  })
  expect(stdout).toMatch(/^client (\S+)\nserver \1 \(http/)
})
