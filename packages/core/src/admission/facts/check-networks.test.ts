import { expect, test } from 'vitest'
import { summary } from '../admission.fixture.ts'
import { checkNetworks } from './check-networks.ts'

const known = new Map([
  ['front', { nodeId: 'node_1', nodeName: 'acme-1' }],
  ['back', { nodeId: 'node_1', nodeName: 'acme-1' }],
  ['far', { nodeId: 'node_2', nodeName: 'acme-2' }],
])

test.each([
  ['no network', undefined, []],
  ['an empty list', [], []],
  ['networks on one node', ['front', 'back'], []],
  ['an unknown network', ['front', 'gone'], ['network_not_found networks[1]']],
  ['networks on two nodes', ['front', 'far', 'back'], ['placement_invalid networks[1]']],
  [
    'an unknown network before networks on two nodes',
    ['gone', 'far', 'front'],
    ['network_not_found networks[0]', 'placement_invalid networks[2]'],
  ],
] as const)('a deployment with %s', (_about, networks, expected) => {
  const spec = networks === undefined ? {} : { networks: [...networks] }
  expect(summary(checkNetworks(spec, known))).toEqual(expected)
})
