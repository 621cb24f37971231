import { expect, test } from 'vitest'
import { pathOf } from '../../parts/plain-link.tsx'
import { pageOfSubject } from './page-of-subject.ts'

test.each([
  ['Deployment', 'report', 'dep_1', '/t/acme/deployments/report/why'],
  ['Job', 'migrate', 'job_1', '/t/acme/jobs/job_1'],
  ['Network', 'backend', 'net_1', '/t/acme/networks'],
  ['Node', 'acme-1', 'node_1', '/t/acme/nodes/node_1'],
  ['Quota', 'containers', 'containers', '/t/acme/access'],
  ['Rotation', 'resources/orders-db', 'resources/orders-db', '/t/acme/secrets/resources/orders-db'],
  ['Volume', 'orders-data', 'vol_1', '/t/acme/volumes/vol_1'],
])('%s %s leads to its page', (kind, name, uid, address) => {
  const page = pageOfSubject({ kind, name, uid })
  expect(page && pathOf(page.to, { tenant: 'acme', ...page.params })).toBe(address)
})

test('a kind that this version does not know leads nowhere', () =>
  expect(pageOfSubject({ kind: 'Orbit', name: 'a', uid: 'a' })).toBeUndefined())
