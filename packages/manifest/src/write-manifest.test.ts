import { expect, test } from 'vitest'
import { parseSource } from './parse-source.ts'
import { checkManifest } from './rules.ts'
import { manifestFields, writeManifest } from './write-manifest.ts'

const RECORD = {
  ...{ kind: 'Deployment', name: 'web', image: 'registry.example.com/web:1.4.2', replicas: 2, secrets: [] },
  ...{ secretsVersion: 3, resources: { cpuMillis: 0, memoryBytes: 0 }, stopGracePeriod: '10s' },
  ...{ environment: { GREETING: 'yes', PORT: '8080' }, uid: 'dep_1', revision: 4, residencyLabels: {} },
}

test('a manifest has the fields that a person may send, and none of the others', () => {
  expect(Object.keys(manifestFields(RECORD))).toEqual([
    ...['kind', 'name', 'image', 'replicas', 'environment', 'stopGracePeriod'],
  ])
})

test('a written manifest is read as the same document, without faults', () => {
  const bytes = new TextEncoder().encode(writeManifest(RECORD))
  const { manifests, faults } = parseSource({ name: 'web.yaml', bytes })
  expect(faults).toEqual([])
  expect(manifests.map(({ value }) => value)).toEqual([manifestFields(RECORD)])
  expect(manifests.flatMap((manifest) => checkManifest(manifest))).toEqual([])
})
