import { expect, test } from 'vitest'
import { checkManifest, hintFor, jobBody, parseSource } from './index.ts'

const manifestsOf = (text: string) =>
  parseSource({ name: 'm.yaml', bytes: new TextEncoder().encode(text) }).manifests

const faultsOf = (text: string): string[] =>
  manifestsOf(text)
    .flatMap((manifest) => checkManifest(manifest))
    .map(({ code, field }) => `${code} ${field}`)

const HEAD = 'kind: Job\nname: migrate\nimage: registry.example.com/web:1.4.2\n'

test.each([
  ['a name and an image', HEAD, []],
  [
    'all kinds of fields',
    `${HEAD}node: n1\ncommand: [./migrate]\nresources: {cpu: 500m, memory: 256Mi}\ntimeout: 15m\nretries: 3\nonNodeLoss: retry\nvolumes: [{volume: data, target: /data, type: volume, readOnly: true}]\nnetworks: [backend]\n`,
    [],
  ],
  ['no image', 'kind: Job\nname: migrate\n', ['image_required image']],
  ['replicas', `${HEAD}replicas: 2\n`, ['field_unknown replicas']],
  ['too many retries', `${HEAD}retries: 11\n`, ['field_type_invalid retries']],
  [
    'a node and its id',
    `${HEAD}node: n1\nnodeId: node_01JD7Q4ZJ8V5T2M0K3X9R6B1CA\n`,
    ['job_node_not_found node'],
  ],
  ['memory without a unit', `${HEAD}resources: {memory: 256}\n`, ['resources_invalid resources.memory']],
])('a job document with %s', (_about, text, expected) => {
  expect(faultsOf(text)).toEqual(expected)
})

test('sends the kind and no node', () => {
  expect(jobBody({ kind: 'Job', name: 'a', node: 'n1', nodeId: 'node_1' })).toEqual({
    kind: 'Job',
    name: 'a',
    nodeId: 'node_1',
  })
})

test.each([
  [`${HEAD}retrys: 1\n`, 'did you mean retries?'],
  [`${HEAD}replicas: 1\n`, 'replicas is a field of deployments; a job has none'],
])('suggests what is meant by a field that a job does not have', (text, hint) => {
  const [manifest] = manifestsOf(text)
  const [fault] = manifest === undefined ? [] : checkManifest(manifest)
  expect(manifest && fault && hintFor(fault, manifest.value)).toBe(hint)
})
