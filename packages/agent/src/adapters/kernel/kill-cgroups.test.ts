// Ordinary folders stand in for cgroups: what the fencer concludes from them. Real processes are in fencer.real.test.ts.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { killCgroups } from './kill-cgroups.ts'

function makeHierarchy(): string {
  const { path } = makeTempFolder('cgroups')
  writeFileSync(join(path, 'cgroup.procs'), '')
  return path
}
const populationOf = (path: string) => killCgroups([path]).get(path)

test('a cgroup that does not exist is empty, where cgroups are mounted', () =>
  expect(populationOf(join(makeHierarchy(), 'holdfast', 'vol_a'))).toBe('empty'))

test.each(['/nonexistent/holdfast/vol_a', join(makeTempFolder('plain').path, 'vol_a')])(
  'a cgroup in no hierarchy is unknown: %s',
  (path) => expect(populationOf(path)).toBe('unknown'),
)

test('a cgroup that cannot be read is unknown', () => {
  const path = join(makeHierarchy(), 'vol_a')
  mkdirSync(join(path, 'cgroup.procs'), { recursive: true })
  expect(populationOf(path)).toBe('unknown')
})

test.each([
  ['cgroup v1', 'cgroup.procs', '', 'empty'],
  // A process of another namespace has the id 0 and cannot be killed from here.
  ['cgroup v1', 'cgroup.procs', '0\n', 'busy'],
  ['cgroup v2', 'cgroup.events', 'populated 0\nfrozen 0\n', 'empty'],
  ['cgroup v2', 'cgroup.events', 'populated 1\nfrozen 0\n', 'busy'],
])('with %s, %s of %j is %s', (_, file, text, expected) => {
  const path = join(makeHierarchy(), 'vol_a')
  mkdirSync(join(path, 'container'), { recursive: true })
  writeFileSync(join(path, file), text)
  expect(populationOf(path)).toBe(expected)
})
