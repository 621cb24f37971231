// Tests what the texts of rejections quote and what they must never quote.

import { describe, expect, test } from 'vitest'
import { aBody, forCreate } from './admission.fixture.ts'
import { checkBody } from './admit-body.ts'

const judge = (parts: { [field: string]: unknown }) => checkBody(aBody(parts), forCreate())

test('a rejection quotes the received value, the accepted form and the reference page', () => {
  expect(judge({ replicas: 500 })).toEqual([
    {
      code: 'replicas_out_of_range',
      field: 'replicas',
      received: '500',
      expected: expect.stringContaining('100'),
      why: expect.any(String),
      doc: '/docs/errors/replicas_out_of_range',
    },
  ])
})

test('the rejection of an unknown field lists the accepted fields only', () => {
  const [top] = judge({ colour: 'red' })
  expect(top?.expected).toContain(
    'kind, name, image, replicas, nodeId, healthCheck, environment, secrets, secretsVersion',
  )
  const [entry] = judge({ secrets: [{ name: 'DB', vault_path: 'resources/db', colour: 'red' }] })
  expect(entry?.expected).toBe('one of name, vault_path, anchor, rotation, values, generate')
  const [inner] = judge({ update: { colour: 'red' } })
  expect(inner?.expected).toContain('order, parallelism, failureAction, progressDeadline')
})

test('the rejection of a residency label shows placement.residency with the submitted values', () => {
  const labels = {
    'holdfast.io/data-residency-country': 'DE',
    'holdfast.io/data-residency-region': 'eu',
    'holdfast.io/blocked-countries': 'US, CN',
  }
  const block = { placement: { residency: { country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] } } }
  for (const { expected } of judge({ labels })) expect(expected).toBe(JSON.stringify(block))
  expect(judge({ labels })).toHaveLength(3)
})

test('the rejection of a credential in environment names the path to use', () => {
  expect(judge({ environment: { DB_PASSWORD: 'hunter22' } })[0]?.expected).toContain('deployments/web')
  expect(judge({ name: 'Web', environment: { DB_PASSWORD: 'hunter22' } })[1]?.expected).toContain(
    'deployments/<name>',
  )
})

describe('a rejection never quotes a credential', () => {
  const canary = `ghp_${'aB3dE6gH9'.repeat(4)}`
  test.each<[string, { [field: string]: unknown }]>([
    ['name', { name: canary }],
    ['image', { image: `user:${canary}@registry.example.com/web:1` }],
    ['environment value', { environment: { 'A-B': canary, DB_PASSWORD: canary, A: canary } }],
    ['environment key', { environment: { [canary]: 1 } }],
    ['unknown field', { [canary]: canary, password: canary, other: { deep: [canary] } }],
    ['secrets', { secrets: [{ name: 'DB', values: { password: canary } }] }],
    [
      'secret name',
      { secrets: [{ name: `${canary}-`, vault_path: canary, anchor: canary, rotation: canary }] },
    ],
    ['vault_path', { secrets: [{ name: 'DB', vault_path: `resources/${canary}`, mount_path: canary }] }],
    [
      'keys',
      {
        environment: { [`DB_${canary}`]: '' },
        secrets: [
          { name: 'DB', vault_path: 'resources/db', values: { [canary]: 'x' }, generate: { keys: [canary] } },
          { name: 'B', vault_path: 'resources/db', generate: { keys: [`${canary}-`], charset: canary } },
        ],
      },
    ],
    [
      'variable of two sources',
      {
        environment: { [`DB_${canary}`]: '' },
        secrets: [{ name: 'DB', vault_path: 'resources/db', values: { [canary]: 'x' } }],
      },
    ],
    ['template', { composedEnvironment: { A: canary, B: `${canary}{{secret.db.a}}`, C: `{{${canary}}}` } }],
    ['label', { labels: { [canary]: '\u0000', 'holdfast.io/data-residency-country': canary } }],
    ['dependsOn', { dependsOn: { [canary]: canary } }],
    ['command', { command: [`\0${canary}`], healthCheck: { type: canary, command: [canary] } }],
    [
      'placement',
      { placement: { constraints: [{ label: canary, operator: canary, values: [canary] }], spread: canary } },
    ],
    ['routes', { routes: [{ host: canary, path: canary, port: 0 }, { [canary]: canary }] }],
    ['read-only', { specHash: canary, status: { message: canary } }],
  ])('%s', (_where, parts) => {
    const rejections = judge(parts)
    expect(rejections.length).toBeGreaterThan(0)
    expect(JSON.stringify(rejections)).not.toContain(canary)
  })
})
