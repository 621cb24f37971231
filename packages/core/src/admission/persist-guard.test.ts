import { expect, test } from 'vitest'
import { aRecord, summary } from './admission.fixture.ts'
import { checkPersistable } from './persist-guard.ts'

const reference = { name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }

test('the persist guard accepts references', () => {
  expect(checkPersistable({ ...aRecord(), secrets: [reference, { ...reference, values: {} }] })).toEqual([])
})

test('the persist guard finds material and generation parameters at any depth', () => {
  const canary = 'correct horse battery staple'
  const spec = {
    secrets: [reference, { ...reference, values: { password: canary } }, { generate: { keys: ['a'] } }],
  }
  const rejections = checkPersistable({ backups: [{ spec }], ...spec })
  expect(summary(rejections)).toEqual([
    'secret_material_would_persist backups[0].spec.secrets[1].values',
    'secret_generate_would_persist backups[0].spec.secrets[2].generate',
    'secret_material_would_persist secrets[1].values',
    'secret_generate_would_persist secrets[2].generate',
  ])
  expect(JSON.stringify(rejections)).not.toContain(canary)
})

test('the persist guard ignores values outside of secrets', () => {
  expect(
    checkPersistable({ placement: { constraints: [{ label: 'a', operator: 'in', values: ['x'] }] } }),
  ).toEqual([])
})
