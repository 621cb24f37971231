// Tests that a container has exactly the mounts of its template, at the pool's mount points, and that containers with
// volumes are started by the agent alone.

import type { TemplateMount } from '@holdfast/contract'
import { asVolumeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { findItemFault } from './check-item.ts'
import { containerLabels, labelledVolumes } from './container-labels.ts'
import { type CgroupDriver, cgroupParent, isStartedByAgent, writtenVolumes } from './container-mounts.ts'
import { containerSettings, tenantNetwork } from './container-settings.ts'
import { anItem, PLACES, TENANT } from './node-items.fixture.ts'
import { findDangers, findUnsafeSettings, ownParts } from './unsafe-settings.ts'

const [A, B] = [asVolumeId('vol_01JCPZ0000000000000000000A'), asVolumeId('vol_01JCPZ0000000000000000000B')]
const mount = (over: Partial<TemplateMount> = {}): TemplateMount => ({
  volume: A,
  target: '/data',
  type: 'volume',
  readOnly: false,
  ...over,
})
const tmpfs = mount({ volume: B, target: '/tmp', type: 'tmpfs', sizeBytes: 1024 })
const itemWith = (...mounts: TemplateMount[]) => anItem('A', 'running', { mounts })
const settings = (mounts: TemplateMount[], driver: CgroupDriver = 'cgroupfs') => {
  const item = itemWith(...mounts)
  const placed = { volumes: PLACES.volumes, cgroupParent: cgroupParent(item.template, PLACES, driver) }
  return containerSettings(item, TENANT, undefined, undefined, placed)
}
const own = (...mounts: TemplateMount[]) =>
  ownParts(itemWith(...mounts).template, [tenantNetwork(TENANT)], PLACES)

const BIND = {
  Type: 'bind',
  Source: `/state/volumes/${A}`,
  Target: '/data',
  ReadOnly: false,
  BindOptions: { Propagation: 'rprivate' },
}
const TMPFS = { Type: 'tmpfs', Target: '/tmp', ReadOnly: false, TmpfsOptions: { SizeBytes: 1024 } }

test.each([
  ['volume', [mount()], [BIND], 'no', `/holdfast/${A}`],
  ['bind', [mount({ type: 'bind' })], [BIND], 'no', `/holdfast/${A}`],
  ['read-only volume', [mount({ readOnly: true })], [{ ...BIND, ReadOnly: true }], 'no', undefined],
  ['tmpfs', [tmpfs], [TMPFS], 'unless-stopped', undefined],
  [
    'read-only tmpfs',
    [{ ...tmpfs, readOnly: true }],
    [{ ...TMPFS, ReadOnly: true }],
    'unless-stopped',
    undefined,
  ],
])('the settings of a %s mount', (_, mounts, Mounts, policy, parent) => {
  const { HostConfig } = settings(mounts)
  expect(HostConfig).toMatchObject({ Mounts, RestartPolicy: { Name: policy } })
  expect(HostConfig.CgroupParent).toBe(parent)
  expect(findUnsafeSettings({ HostConfig }, own(...mounts))).toEqual([])
})

test('a template without mounts has no settings of them, and one with mounts needs their places', () => {
  expect(containerSettings(anItem('A'), TENANT).HostConfig).not.toHaveProperty('Mounts')
  expect(() => containerSettings(itemWith(mount()), TENANT)).toThrow('unknown')
})

test.each([
  ['one volume', [mount({ volume: B })], 'cgroupfs', `/holdfast/${B}`],
  ['one volume with systemd', [mount()], 'systemd', `holdfast-${A}.slice`],
  [
    'the first volume of a group',
    [mount({ volume: B }), mount({ target: '/a' })],
    'cgroupfs',
    `/holdfast/${A}`,
  ],
  ['an engine without cgroups', [mount()], 'none', undefined],
] as const)('the cgroup parent is that of %s', (_, mounts, driver, expected) => {
  expect(cgroupParent(itemWith(...mounts).template, PLACES, driver)).toBe(expected)
})

test('a writer is labelled with each volume that it writes, once', () => {
  const mounts = [mount({ volume: B }), mount(), mount({ target: '/again' }), tmpfs]
  const item = itemWith(...mounts)
  expect(writtenVolumes(item.template)).toEqual([A, B])
  expect(labelledVolumes(containerLabels(item, TENANT))).toEqual([A, B])
  expect(labelledVolumes(containerLabels(itemWith(mount({ readOnly: true })), TENANT))).toEqual([])
  expect([[mount({ readOnly: true })], [tmpfs], []].map((one) => isStartedByAgent({ mounts: one }))).toEqual([
    true,
    false,
    false,
  ])
})

test('an engine without cgroups gets no writer', () => {
  expect(findUnsafeSettings(settings([mount()], 'none'), own(mount()))).toEqual(['CgroupParent'])
})

describe('an inspected container with mounts', () => {
  const mounts = [mount(), tmpfs]
  const seen = {
    Type: 'bind',
    Source: BIND.Source,
    Destination: '/data',
    RW: true,
    Mode: '',
    Propagation: 'rprivate',
  }
  const seenTmpfs = { Type: 'tmpfs', Source: '', Destination: '/tmp', RW: true, Propagation: '' }
  const inspected = () => ({ HostConfig: settings(mounts).HostConfig, Mounts: [seen, seenTmpfs] })
  const dangers = (host: object, found: readonly unknown[] = [seen, seenTmpfs]) =>
    findDangers({ HostConfig: { ...inspected().HostConfig, ...host }, Mounts: found }, own(...mounts))

  test('is accepted as it was created, with either cgroup driver', () => {
    expect(dangers({})).toEqual([])
    expect(dangers({ CgroupParent: `holdfast-${A}.slice` })).toEqual([])
    expect(dangers({ Mounts: [TMPFS, { ...BIND, Consistency: '', VolumeOptions: null }] })).toEqual([])
  })

  test.each([
    ['another source', { ...BIND, Source: '/' }],
    ['another volume', { ...BIND, Source: `/state/volumes/${B}` }],
    ['a source below the volume', { ...BIND, Source: `${BIND.Source}/..` }],
    ['another target', { ...BIND, Target: '/etc' }],
    ['more access', { ...BIND, ReadOnly: true }],
    ['another propagation', { ...BIND, BindOptions: { Propagation: 'rshared' } }],
    ['another option', { ...BIND, BindOptions: { Propagation: 'rprivate', CreateMountpoint: true } }],
    ['another type', { ...BIND, Type: 'volume' }],
    ['an unknown member', { ...BIND, Something: 'new' }],
  ])('with %s is a danger', (_, changed) => {
    expect(dangers({ Mounts: [changed, TMPFS] })).toEqual(['Mounts'])
  })

  test.each([
    ['another source', [{ ...seen, Source: '/etc' }]],
    ['a writable mount of a read-only one', [{ ...seen, RW: false }]],
    ['shared propagation', [{ ...seen, Propagation: 'shared' }]],
    ['one mount more', [seen, { ...seen, Destination: '/more' }]],
    [
      'a Docker volume in place of the mount',
      [{ ...seen, Type: 'volume', Driver: 'local', Name: 'a'.repeat(64) }],
    ],
  ])('that has in fact %s is a danger', (_, found) => {
    expect(dangers({}, found)).toEqual(['Mounts'])
  })

  test.each([
    ['without its mounts', { Mounts: [] }, ['Mounts']],
    ['without one of them', { Mounts: [BIND] }, ['Mounts']],
    ['with one mount twice', { Mounts: [BIND, BIND] }, ['Mounts']],
    ['that the engine restarts', { RestartPolicy: { Name: 'unless-stopped' } }, ['RestartPolicy']],
    ['in the cgroup of another volume', { CgroupParent: `/holdfast/${B}` }, ['CgroupParent']],
    ['in no cgroup of a volume', { CgroupParent: '' }, ['CgroupParent']],
  ])('%s is a danger', (_, host, expected) => {
    expect(dangers(host)).toEqual(expected)
  })

  test('is a danger for a template without mounts', () => {
    expect(findDangers(inspected(), own())).toEqual(['Mounts'])
  })
})

test.each([
  ['a relative target', [mount({ target: 'data' })]],
  ['a target that leaves its folder', [mount({ target: '/a/../..' })]],
  ['a target that is not normal', [mount({ target: '/a//b' })]],
  ['the root as target', [mount({ target: '/' })]],
  ['a target with a line feed', [mount({ target: '/a\nb' })]],
  ['two mounts at one target', [mount(), mount({ volume: B })]],
  ['an unknown type', [Object.assign(mount(), { type: 'npipe' })]],
  ['a path as volume', [mount({ volume: asVolumeId('../etc') })]],
  ['a tmpfs without a size', [{ ...tmpfs, sizeBytes: 0 }]],
  ['a tmpfs with a fractional size', [{ ...tmpfs, sizeBytes: 1.5 }]],
])('the agent refuses an item with %s', (_, mounts) => {
  const item = anItem('A')
  expect(findItemFault({ ...item, template: { ...item.template, mounts } })).toBeDefined()
})

test('the agent accepts an item with mounts of every type', () => {
  expect(
    findItemFault(itemWith(mount(), mount({ target: '/b', type: 'bind', readOnly: true }), tmpfs)),
  ).toBeUndefined()
})
