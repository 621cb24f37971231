// Ordinary folders stand in for cgroups: the rules for removing an empty one are the same.

import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { asVolumeId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { createWriterCgroups } from './writer-cgroups.ts'

const [GONE, KEPT] = [
  asVolumeId('vol_01JCPZ0000000000000000000A'),
  asVolumeId('vol_01JCPZ0000000000000000000B'),
]

test.each([
  ['cgroup v1', ['freezer', 'memory'], 'lab/holdfast', ''],
  ['cgroup v2', [''], 'holdfast', ''],
  ['cgroup v2 with systemd', [''], 'holdfast.slice', 'holdfast-'],
  ['cgroup v2 with systemd and a dash', [''], 'acme.slice/acme-db.slice', 'acme-db-'],
])(
  'removes empty cgroups with %s, but none in use, kept or of others',
  (name, hierarchies, parent, prefix) => {
    const { path: root } = makeTempFolder('cgroups')
    const suffix = prefix === '' ? '' : '.slice'
    const at = (hierarchy: string, volume: string, ...below: string[]) =>
      join(root, hierarchy, parent, `${prefix}${volume}${suffix}`, ...below)
    if (name !== 'cgroup v1') mkdirSync(join(root, 'cgroup.controllers'))
    for (const hierarchy of hierarchies)
      for (const below of [
        at(hierarchy, KEPT),
        at(hierarchy, GONE, 'container'),
        join(root, hierarchy, parent, 'other'),
      ])
        mkdirSync(below, { recursive: true })
    if (name === 'cgroup v1') symlinkSync('memory', join(root, 'linked'))
    const { removeEmptyCgroups } = createWriterCgroups(prefix === '' ? parent : prefix.slice(0, -1), root)

    expect(removeEmptyCgroups(new Set([KEPT]))).toBe(hierarchies.length)
    expect(removeEmptyCgroups(new Set([KEPT, GONE]))).toBe(0)
    expect(removeEmptyCgroups(new Set())).toBe(hierarchies.length)
    for (const hierarchy of hierarchies) {
      expect([existsSync(at(hierarchy, GONE)), existsSync(at(hierarchy, KEPT))]).toEqual([true, false])
      expect(existsSync(join(root, hierarchy, parent, 'other'))).toBe(true)
    }
  },
)

test('finds nothing to remove on a machine without such cgroups', () => {
  expect(createWriterCgroups('holdfast', '/nonexistent').removeEmptyCgroups(new Set())).toBe(0)
})

test('a fencer kills below the slices that systemd nests by the dashes of a name', () => {
  const { path: root } = makeTempFolder('cgroups')
  mkdirSync(join(root, 'cgroup.controllers'))
  expect(createWriterCgroups('acme-db-1', root).writerCgroups(KEPT)).toEqual([
    join(root, 'acme-db-1', KEPT),
    join(root, 'acme.slice', 'acme-db.slice', 'acme-db-1.slice', `acme-db-1-${KEPT}.slice`),
  ])
})
