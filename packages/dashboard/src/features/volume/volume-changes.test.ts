import type { NodeId, Volume } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { volumeChanges } from './volume-changes.ts'

const copy = (nodeName: string): Volume['copies'][number] => ({
  nodeId: `node_${nodeName}` as NodeId,
  nodeName,
  role: 'replica',
  state: 'current',
  checkpoint: null,
  checkpointAge: null,
  promotable: false,
  promise: null,
})

test('only fields that differ are listed, and the order of the copies does not count', () => {
  const before = { sizeBytes: 1024 ** 3, replicas: 1, copies: [copy('b'), copy('a')] }
  expect(volumeChanges(before, { ...before, copies: [copy('a'), copy('b')] })).toEqual([])
  expect(
    volumeChanges(before, {
      sizeBytes: 2 * 1024 ** 3,
      replicas: 2,
      copies: [copy('a'), copy('b'), copy('c')],
    }),
  ).toEqual([
    { field: 'sizeBytes', label: 'Size', from: '1 GiB', to: '2 GiB' },
    { field: 'replicas', label: 'Copies besides the primary', from: '1', to: '2' },
    { field: 'copies', label: 'Nodes', from: 'a, b', to: 'a, b, c' },
  ])
})
