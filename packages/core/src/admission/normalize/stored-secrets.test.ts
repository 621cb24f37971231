import type { JsonObject } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { aBody, aRecord } from '../admission.fixture.ts'
import { checkPersistable } from '../persist-guard.ts'
import { normalise } from './normalise.ts'

const CANARY = 'correct horse battery staple'
const alterationsOfSecrets = ({ alterations }: ReturnType<typeof normalise>) =>
  alterations
    .filter(({ field }) => field.startsWith('secrets['))
    .map(({ code, field, from, to }) => [code, field, from, to])
const create = (parts: { [field: string]: unknown }) => normalise(aBody(parts), undefined)

test('an entry is stored as a reference with defaults, each reported as an alteration', () => {
  const stored = create({ secrets: [{ rotation: 'restart', vault_path: 'resources/db', name: 'DB' }] })
  expect(stored.spec.secrets).toEqual([
    { name: 'DB', vault_path: 'resources/db', anchor: 'external', rotation: 'restart' },
  ])
  expect(Object.keys(stored.spec.secrets[0] ?? {})).toEqual(['name', 'vault_path', 'anchor', 'rotation'])
  expect(alterationsOfSecrets(stored)).toEqual([['default_applied', 'secrets[0].anchor', null, 'external']])
  expect(stored.material).toEqual([])
})

test('material is returned separately and is not part of the spec', () => {
  const sent = aBody({
    secrets: [
      { name: 'A', vault_path: 'resources/a', anchor: 'process' },
      {
        name: 'B',
        vault_path: 'deployments/b',
        anchor: 'process',
        rotation: 'restart',
        values: { password: CANARY },
        generate: { keys: ['token'], length: 40 },
      },
    ],
  })
  const before = JSON.stringify(sent)
  const { material, ...stored } = normalise(sent, undefined)
  expect(material).toEqual([
    {
      namespace: 'deployments',
      label: 'b',
      values: new Map([['password', CANARY]]),
      generate: { keys: ['token'], length: 40, charset: 'alphanumeric' },
    },
  ])
  expect(alterationsOfSecrets({ material, ...stored })).toEqual([
    ['default_applied', 'secrets[0].rotation', null, 'restart'],
    ['write_time_material_stripped', 'secrets[1].values', '<redacted object, 43 bytes>', null],
    ['write_time_material_stripped', 'secrets[1].generate', '<redacted object, 30 bytes>', null],
  ])
  expect(JSON.stringify(stored)).not.toContain(CANARY)
  expect(JSON.stringify(stored)).not.toContain('token')
  expect(checkPersistable({ ...stored.spec })).toEqual([])
  expect(JSON.stringify(sent)).toBe(before)
})

test('an update without secrets keeps the stored ones', () => {
  const record = aRecord(aBody({ secrets: [{ name: 'DB', vault_path: 'resources/db' }] }))
  const stored = normalise({ replicas: 2 }, record)
  expect(stored.spec.secrets).toEqual(record.secrets)
  expect(stored.alterations).toEqual([])
})

describe('warnings about generated material', () => {
  const warnings = (generate: JsonObject, parts: { [field: string]: unknown } = {}, anchor = 'process') =>
    create({
      secrets: [{ name: 'DB', vault_path: 'resources/db', anchor, generate: { keys: ['a'], ...generate } }],
      ...parts,
    }).warnings.map(({ code, field }) => `${code} ${field}`)
  const composed = { composedEnvironment: { URL: 'x://{{secret.db.a}}' } }

  test('warns about generated material with an external anchor', () => {
    expect(warnings({}, {}, 'external')).toEqual(['external_material_generated secrets[0].generate'])
    expect(warnings({})).toEqual([])
  })

  test.each<[JsonObject, ...string[]]>([
    [{ length: 32, charset: 'ascii' }, 'charset_unsafe_in_template secrets[0].generate.charset'],
    [{ encoding: 'base64' }, 'charset_unsafe_in_template secrets[0].generate.encoding'],
    [{ encoding: 'base64url' }],
    [{ charset: 'urlsafe' }],
    [{}],
  ])('characters that may break a template: %j', (generate, ...expected) => {
    expect(warnings(generate, composed)).toEqual(expected)
    expect(warnings(generate)).toEqual([])
    expect(warnings(generate, { composedEnvironment: { URL: '{{secret.db.other}}' } })).toEqual([])
  })
})
