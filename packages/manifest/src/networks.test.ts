import { expect, test } from 'vitest'
import { checkManifest, networkBody, parseSource, withoutNetworks } from './index.ts'

const faultsOf = (text: string): string[] =>
  parseSource({ name: 'm.yaml', bytes: new TextEncoder().encode(text) })
    .manifests.flatMap((manifest) => checkManifest(manifest))
    .map(({ code, field }) => `${code} ${field}`)

test.each([
  ['a name alone', 'kind: Network\nname: backend\n', []],
  [
    'all fields',
    'kind: Network\nname: backend\ndriver: bridge\ninternal: true\nnode: n1\nlabels: {a: b}\n',
    [],
  ],
  ['no name', 'kind: Network\n', ['name_required name']],
  [
    'an option of the engine',
    'kind: Network\nname: a\nipam: {}\n',
    ['network_option_unsupported_on_agent ipam'],
  ],
  ['an empty node', 'kind: Network\nname: a\nnode: ""\n', ['network_node_not_a_candidate node']],
  [
    'a node and its id',
    'kind: Network\nname: a\nnode: n1\nnodeId: node_1\n',
    ['network_node_not_a_candidate node'],
  ],
])('a network document with %s', (_about, text, expected) => {
  expect(faultsOf(text)).toEqual(expected)
})

test('sends neither kind nor node', () => {
  expect(networkBody({ kind: 'Network', name: 'a', node: 'n1', nodeId: 'node_1' })).toEqual({
    name: 'a',
    nodeId: 'node_1',
  })
})

test('leaves out the networks that the platform does not have yet', () => {
  const value = { kind: 'Deployment', networks: ['new', 'old'] }
  expect(withoutNetworks(value, (name) => name === 'new')).toEqual({ ...value, networks: ['old'] })
  expect(withoutNetworks({ kind: 'Deployment' }, () => true)).toEqual({ kind: 'Deployment' })
})
