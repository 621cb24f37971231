// Documents of kind Volume, and deployments that name volumes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hintFor } from './hints.ts'
import { locateRejection, writtenField } from './locate.ts'
import { type Manifest, parseSource } from './parse-source.ts'
import { sizeBytesOf } from './quantities.ts'
import { checkManifest } from './rules.ts'
import { kindOf, volumeBody } from './volume-document.ts'
import { mountedVolumes, volumeReferences, withoutMounts, withVolumeIds } from './volume-names.ts'

const ID = 'vol_01JCPZ0000000000000000000A'

function parse(text: string): Manifest {
  const [manifest] = parseSource({ name: 'v.yaml', bytes: new TextEncoder().encode(text) }).manifests
  if (manifest === undefined) throw new Error('no document')
  return manifest
}

/** The code, field, marked text and hint of each fault. */
function faultsOf(text: string): (string | undefined)[][] {
  const manifest = parse(text)
  return checkManifest(manifest).map((rejection) => {
    const { start, end } = locateRejection(manifest, rejection)
    const hint = hintFor(rejection, manifest.value)
    return [rejection.code, writtenField(manifest, rejection.field), text.slice(start, end), hint]
  })
}

const VOLUME = 'kind: Volume\nname: data\nclass: replicated\n'

describe('a volume document', () => {
  test('is sent without its kind and with its size in bytes', () => {
    const { value } = parse(`${VOLUME}size: 10Gi\nreplicas: 1\n`)
    expect(kindOf(value)).toBe('Volume')
    const rest = { name: 'data', class: 'replicated', replicas: 1 }
    expect(volumeBody(value)).toEqual({ ...rest, sizeBytes: 10 * 1024 ** 3 })
  })

  test.each([
    ['size: 10Gi\nnode: n1\nreplicas: 1\n', []],
    ['sizeBytes: 16777216\nresidency: {country: DE}\n', []],
    ['', [['volume_spec_invalid', 'sizeBytes', 'kind', 'add size with a unit, as in size: 10Gi']]],
    ['size: 10\n', [['volume_spec_invalid', 'size', '10', undefined]]],
    ['size: 1Mi\n', [['volume_spec_invalid', 'size', '1Mi', undefined]]],
    ['size: 1Gi\nsizeBytes: 16777216\n', [['volume_spec_invalid', 'size', '1Gi', undefined]]],
    ['size: 1Gi\nreplicas: 9\n', [['volume_spec_invalid', 'replicas', '9', undefined]]],
    ['size: 1Gi\nnode: 7\n', [['volume_spec_invalid', 'node', '7', undefined]]],
    [
      'size: 1Gi\nnode: n1\nnodeId: node_01JCPZ0000000000000000000A\n',
      [['volume_spec_invalid', 'node', 'n1', undefined]],
    ],
    ['capacity: 1Gi\nsize: 1Gi\n', [['field_unknown', 'capacity', 'capacity', 'use size']]],
    ['size: 1Gi\nreplica: 1\n', [['field_unknown', 'replica', 'replica', 'did you mean replicas?']]],
    [
      'sizeBytes: 10Gi\n',
      [
        [
          'field_type_invalid',
          'sizeBytes',
          '10Gi',
          'write a whole number, or size with a unit, as in size: 10Gi',
        ],
      ],
    ],
  ])('with %j has its faults at their places', (more, faults) =>
    expect(faultsOf(VOLUME + more)).toEqual(faults),
  )

  test('sizes are quantities with a unit', () => {
    expect([sizeBytesOf('1.5Gi'), sizeBytesOf('500M')]).toEqual([1.5 * 1024 ** 3, 500_000_000])
    expect(sizeBytesOf('10')).toContain('The unit is missing')
    expect(sizeBytesOf('10GB')).toContain('write Gi for powers of 1024, or G for powers of 1000')
  })

  test('a misspelled kind is recognized', () =>
    expect(hintFor({ code: 'manifest_wrong_kind', field: 'kind' } as never, { kind: 'volumes' })).toBe(
      'did you mean Volume?',
    ))
})

describe('a deployment that names volumes', () => {
  const DEPLOYMENT = {
    kind: 'Deployment',
    volumes: [{ volume: 'data', target: '/d' }, { volume: ID, target: '/e' }, 'x', { volume: 'No!' }],
    secrets: [
      { name: 'DB', anchor: 'volume(data)' },
      { name: 'X', anchor: 'external' },
    ],
  }

  test('is found with its mounts and anchors', () => {
    expect(volumeReferences(DEPLOYMENT)).toEqual([
      { field: 'volumes[0].volume', name: 'data' },
      { field: 'secrets[0].anchor', name: 'data' },
    ])
    expect(mountedVolumes(DEPLOYMENT)).toEqual(['data', ID, 'No!'])
    expect(volumeReferences({ volumes: 'none', secrets: 7 })).toEqual([])
  })

  test('gets ids instead of names, and keeps unknown names', () => {
    expect(withVolumeIds(DEPLOYMENT, () => ID)).toMatchObject({
      volumes: [{ volume: ID }, { volume: ID }, 'x', { volume: 'No!' }],
      secrets: [{ anchor: `volume(${ID})` }, { anchor: 'external' }],
    })
    expect(withVolumeIds(DEPLOYMENT, () => undefined)).toEqual(DEPLOYMENT)
  })

  test('can be judged without some mounts', () =>
    expect(withoutMounts(DEPLOYMENT, (volume) => volume === 'data')).toMatchObject({
      volumes: [{ volume: ID }, 'x', { volume: 'No!' }],
      secrets: [{ anchor: 'external' }, { anchor: 'external' }],
    }))

  test('is valid offline with a name, and its malformed names are explained', () => {
    const mount = (volume: string) =>
      `kind: Deployment\nname: db\nimage: registry.example.com/pg:16\nvolumes:\n  - { volume: ${volume}, target: /d, type: volume, readOnly: false }\n`
    expect(faultsOf(mount('data'))).toEqual([])
    expect(faultsOf(mount('Data_1'))).toEqual([
      ['volume_mount_shape', 'volumes[0].volume', 'Data_1', 'write the name of a volume, or its id'],
    ])
  })
})

test('the example of a database is valid', () => {
  const name = 'database.yaml'
  const bytes = readFileSync(join(import.meta.dirname, '../../../examples', name))
  const { manifests, faults } = parseSource({ name, bytes })
  expect([manifests.length, faults, manifests.flatMap((each) => checkManifest(each))]).toEqual([2, [], []])
})
