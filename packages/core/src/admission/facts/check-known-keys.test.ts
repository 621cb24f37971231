import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'
import { aBody, aRecord, summary } from '../admission.fixture.ts'
import { normalise } from '../normalize/normalise.ts'
import { checkFacts } from './check-facts.ts'

const secret = (name: string, label: string) => ({
  name,
  vault_path: `resources/${label}`,
  anchor: 'external',
  rotation: 'restart',
})
const fact = (...keys: string[]): CredentialFact => ({ namespace: 'resources', newest: 1, initial: 1, keys })
const specOf = (parts: { [field: string]: unknown }) => normalise(aBody(parts), undefined).spec

function judge(
  parts: { [field: string]: unknown },
  credentials: { [label: string]: CredentialFact },
  { material = [], before }: { material?: SentMaterial[]; before?: { [field: string]: unknown } } = {},
) {
  const existing = before && { record: { ...aRecord(), ...specOf(before) }, deleting: false }
  const facts = { existing, credentials: new Map(Object.entries(credentials)) }
  const mode = before === undefined ? 'create' : 'update'
  return summary(checkFacts(specOf(parts), facts, { mode, limits: DEFAULT_LIMITS }, material).rejections)
}

test('rejects a constant and a template that conflict with a stored key', () => {
  const parts = {
    secrets: [secret('DB', 'db')],
    environment: { DB_host: 'h', DB_port: '1' },
    composedEnvironment: { DB_user: '{{secret.db.host}}' },
  }
  expect(judge(parts, { db: fact('host', 'user') })).toEqual([
    'environment_key_conflict environment.DB_host',
    'environment_key_conflict composedEnvironment.DB_user',
  ])
  expect(judge(parts, { db: fact('name') })).toEqual([])
  expect(judge(parts, {})).toEqual([])
})

test('rejects two entries whose stored or sent keys define the same variable', () => {
  const secrets = [secret('DB', 'one'), secret('DB_X', 'two')]
  const conflict = ['environment_key_conflict secrets[1].name']
  expect(judge({ secrets }, { one: fact('X_Y'), two: fact('Y') })).toEqual(conflict)
  const material = [{ namespace: 'resources', label: 'two', values: new Map([['Y', 'v']]) }]
  expect(judge({ secrets }, { one: fact('X_Y') }, { material })).toEqual(conflict)
})

test('does not check again what an update leaves unchanged', () => {
  const parts = { secrets: [secret('DB', 'db')], environment: { DB_host: 'h' } }
  const db = fact('host')
  expect(judge({ ...parts, replicas: 3 }, { db }, { before: parts })).toEqual([])
  const before = { ...parts, environment: {} }
  expect(judge(parts, { db }, { before })).toEqual(['environment_key_conflict environment.DB_host'])
})
