import type { AuditEntry, TenantId, TokenId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { closedBy } from './closed-by.ts'

const entry = (action: string, kind = 'Node'): AuditEntry => ({
  id: action,
  time: '2026-11-18T14:05:00.000Z',
  tenant: 'acme' as TenantId,
  actor: { token: 'tok_1' as TokenId, name: 'ci-main', role: 'tenant-admin' },
  onBehalf: false,
  action,
  subject: { kind, name: 'n1' },
  requestId: 'r',
})

test.each([
  ['cordoned', ['nodes:cordoned', 'nodes:enrolled'], 'nodes:cordoned'],
  ['cordoned and then drained', ['nodes:drained', 'nodes:cordoned'], 'nodes:drained'],
  ['changed after its cordon', ['nodes:changed', 'nodes:cordoned'], 'nodes:cordoned'],
  ['uncordoned', ['nodes:uncordoned', 'nodes:cordoned'], undefined],
  ['enrolled again', ['nodes:enrolled', 'nodes:cordoned'], undefined],
  ['never closed', [], undefined],
])('a node that was %s', (_what, actions, closing) => {
  expect(closedBy(actions.map((action) => entry(action)))?.action).toBe(closing)
})

test('a deployment of the same name does not close a node', () => {
  expect(closedBy([entry('nodes:cordoned', 'Deployment')])).toBeUndefined()
})
