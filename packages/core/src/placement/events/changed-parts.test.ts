import { asVolumeId, type ContainerTemplate } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { changedParts } from './changed-parts.ts'

const OLD: ContainerTemplate = {
  name: 'web',
  image: 'registry.example.com/web@sha256:0',
  environment: { A: '1', B: '2' },
  labels: {},
  stopGracePeriod: '10s',
}
const volume = asVolumeId('vol_01JD7QAF7T1B3V9W5Y8Z2A4C6D')
const mount = { volume, target: '/data', type: 'tmpfs', readOnly: false } as const

test.each<[part: string, change: Partial<ContainerTemplate>]>([
  ['image', { image: 'registry.example.com/web@sha256:1' }],
  ['command', { command: ['serve'] }],
  ['args', { args: ['--verbose'] }],
  ['environment', { environment: { A: '2' } }],
  ['secrets', { secrets: [{ name: 'KEY', namespace: 'shop', label: 'app', version: 1 }] }],
  ['composedEnvironment', { composedEnvironment: { URL: 'https://example.com' } }],
  ['healthCheck', { healthCheck: { type: 'exec', command: ['true'], interval: '1s', startPeriod: '1s' } }],
  ['limits', { limits: { memoryBytes: 1 } }],
  ['volumes', { mounts: [mount] }],
  ['networks', { networks: ['front'] }],
  ['labels', { labels: { team: 'shop' } }],
])('names %s, whether it is added, changed or removed', (part, change) => {
  const changed = { ...OLD, ...change }
  expect([changedParts(OLD, changed), changedParts(changed, OLD)]).toEqual([[part], [part]])
})

test('names every part that changed', () => {
  const current = { ...OLD, environment: {}, networks: ['front'], mounts: [mount] }
  expect(changedParts(OLD, current)).toEqual(['environment', 'volumes', 'networks'])
})

test('names nothing that recreates no container', () => {
  const mounted = { ...OLD, mounts: [mount] }
  const resized: ContainerTemplate = { ...mounted, mounts: [{ ...mount, sizeBytes: 4096 }] }
  expect(changedParts(mounted, resized)).toEqual([])
  expect(changedParts(OLD, { ...OLD, environment: { B: '2', A: '1' }, stopGracePeriod: '20s' })).toEqual([])
})
