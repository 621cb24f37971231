// Gathers what packages are planned from: the files of every bundle, the engines by their pinned versions, all units, and the
// rights of a pool.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import type { BuiltBundle } from '../../../scripts/package/bundles/bundles.ts'
import { engineBinaries, gatherBuilt } from '../../../scripts/package/gather-built.ts'

const ROOT = join(import.meta.dirname, '../../..')
const temporary = makeTempFolder('gather-built')
afterAll(() => temporary.remove())

function bundleOf(name: string, files: readonly string[]): BuiltBundle {
  const folder = join(temporary.path, name)
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  return { folder, metafiles: [] }
}

const built = gatherBuilt(
  {
    'holdfast-server': bundleOf('server', ['z.mjs', 'dashboard/index.html', 'dashboard/.vite/licenses.json']),
    'holdfast-agent': bundleOf('agent', ['holdfast-agent.mjs']),
    'holdfast-cli': bundleOf('cli', ['holdfast.mjs']),
  },
  { 'holdfast-server': 's', 'holdfast-agent': 'a', 'holdfast-cli': 'c', 'holdfast-engines': 'e' },
)

test('each program has the files of its bundle, sorted, without lists of the build', () => {
  const files = Object.entries(built.bundleFiles).map(([name, found]) => [name, [...found.keys()]])
  expect(Object.fromEntries(files)).toEqual({
    'holdfast-server': ['dashboard/index.html', 'z.mjs'],
    'holdfast-agent': ['holdfast-agent.mjs'],
    'holdfast-cli': ['holdfast.mjs'],
  })
  expect(built.bundleFiles['holdfast-cli'].get('holdfast.mjs')).toBe(join(temporary.path, 'cli/holdfast.mjs'))
})

test('engines come from the folders of their pinned versions', () => {
  expect([...built.engines.keys()]).toEqual(['etcd', 'etcdctl', 'vault', 'caddy'])
  for (const [name, path] of built.engines) expect(path).toMatch(new RegExp(`-\\d+\\.\\d+\\.\\d+/${name}$`))
  expect(engineBinaries('nfpm')[0]?.[0]).toBe('nfpm')
})

test('every unit of the repository is read, and a pool has the rights of its drop-in', () => {
  expect(built.units.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'holdfast-server.service',
      'holdfast-broker.service',
      'holdfast-agent.service',
      'holdfast-fencer.service',
      'holdfast-etcd.service',
      'holdfast-vault.service',
    ]),
  )
  for (const unit of built.units) expect(existsSync(built.pathOf(unit)), unit.source).toBe(true)
  const dropIn = readFileSync(join(ROOT, 'packages/agent/holdfast-agent-pool.conf'), 'utf8')
  expect(built.poolRights).toBe(dropIn)
})
