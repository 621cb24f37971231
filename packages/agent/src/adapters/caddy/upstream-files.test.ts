// The upstream files on a real disk: after crashes and failed writes, no file contains an address that was not written to
// it.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Backend } from '../../ports/router.ts'
import { planBackends } from '../../routing/plan-backends.ts'
import { openUpstreamFiles, upstreamFile } from './upstream-files.ts'

const newFolder = (): string => join(makeTempFolder('upstreams').path, 'upstreams')
const backend = (name: string, local: string[], ...ports: number[]): Backend => ({
  name,
  routes: ports.map((port) => ({ host: `${name}.test`, path: `/${port}`, port })),
  local,
  peers: [],
})
const lines = (folder: string): { [file: string]: string } =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((file) => {
        const [kind = '', place = ''] = readFileSync(join(folder, file), 'utf8').trim().split(' ')
        return [file, `${kind} ${place}`.trim()]
      }),
  )

test('outdated upstream files list the current upstreams of their deployment or none, until they are deleted', async () => {
  const folder = newFolder()
  const before = openUpstreamFiles(folder)
  await before.write([backend('api', ['10.208.0.2'], 80), backend('web', ['10.208.0.3'], 80)])
  // Repeats the test with a new object, as after a restart of the agent, which knows the files only from the disk.
  for (const upstreams of [before, openUpstreamFiles(folder)]) {
    const now = [backend('web', ['10.208.0.4'], 81)]
    await upstreams.write(now)
    expect(lines(folder)).toEqual({
      'api.80': 'none',
      'web.80': 'here12 10.208.0.4:80',
      'web.81': 'here12 10.208.0.4:81',
    })
    if (upstreams === before) continue
    await upstreams.removeOthers(now)
    expect(Object.keys(lines(folder))).toEqual(['web.81'])
  }
})

test('upstream files written while others are removed stay', async () => {
  const folder = newFolder()
  const upstreams = openUpstreamFiles(folder)
  const [old, more] = [[backend('web', ['10.208.0.2'], 80)], [backend('new', ['10.208.0.3'], 80)]]
  await upstreams.write(old)
  // A change of upstreams arrives while the router still loads the previous configuration.
  await Promise.all([upstreams.write([...old, ...more]), upstreams.removeOthers(old)])
  expect(lines(folder)).toHaveProperty('new.80', 'here12 10.208.0.3:80')
  for (let count = 0; count < 50; count += 1)
    await Promise.all([
      upstreams.write([...old, backend('new', [`10.208.0.${count}`], 80)]),
      upstreams.removeOthers(old),
    ])
  expect(lines(folder)).toHaveProperty('new.80', 'here12 10.208.0.49:80')
})

test('a half-written upstream file is ignored', async () => {
  const folder = newFolder()
  mkdirSync(folder)
  writeFileSync(join(folder, 'web.80'), 'here12 10.208.0.12:80\n')
  writeFileSync(join(folder, 'web.80.new'), 'here12 10.208.0.1')
  const upstreams = openUpstreamFiles(folder)
  expect(await upstreams.read()).toEqual(new Map([['web', ['10.208.0.12']]]))
  await upstreams.write([backend('web', ['10.208.0.12'], 80)])
  await upstreams.removeOthers([backend('web', ['10.208.0.12'], 80)])
  expect(Object.keys(lines(folder))).toEqual(['web.80'])
})

test('a failed write keeps the previous upstream file and is reported', async () => {
  const folder = newFolder()
  const upstreams = openUpstreamFiles(folder)
  await upstreams.write([backend('web', ['10.208.0.2'], 80)])
  // Simulates a full disk, even for root: a folder with the name of the temporary file prevents its creation.
  mkdirSync(join(folder, 'web.80.new'))
  const next = [backend('web', ['10.208.0.3'], 80)]
  await expect(upstreams.write(next)).rejects.toThrow('EISDIR')
  expect(readFileSync(join(folder, 'web.80'), 'utf8')).toContain('10.208.0.2:80')
})

test('without an upstreams folder there are no upstreams, and its files are accessible to the owner only', async () => {
  const folder = newFolder()
  const upstreams = openUpstreamFiles(folder)
  expect(await upstreams.read()).toEqual(new Map())
  expect(existsSync(folder)).toBe(false)
  await upstreams.write([backend('web', ['10.208.0.2'], 80)])
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'web.80')).mode & 0o777]).toEqual([
    0o700, 0o600,
  ])
})

test('no deployment name escapes the upstreams folder or is interpreted by Caddy', () => {
  const names = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', '{', '}', '\n', '\0', 'a', '-', '%', '~') }),
    fc.constantFrom('..', '../web', 'web/..', 'web\n', 'a}{env.X', 'web.80', 'web-1'),
  )
  fc.assert(
    fc.property(names, fc.integer(), (name, port) => {
      const entry = { deployment: 'dep_1', name, routes: [{ host: 'a.test', path: '/', port }], peers: [] }
      const facts = { table: [entry], replicas: [], upstreams: new Map(), withdrawn: new Map() }
      for (const planned of planBackends(facts as unknown as Parameters<typeof planBackends>[0]))
        for (const route of planned.routes) {
          const file = upstreamFile('/upstreams', planned.name, route.port)
          expect(file).toMatch(/^\/upstreams\/[a-z0-9]([a-z0-9-]*[a-z0-9])?\.[1-9][0-9]*$/)
        }
    }),
    { numRuns: inRun(1_000, 5_000) },
  )
})
