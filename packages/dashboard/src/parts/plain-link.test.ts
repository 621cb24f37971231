import { expect, test } from 'vitest'
import { pathOf } from './plain-link.tsx'

test.each([
  ['/platform/servers', {}, '/platform/servers'],
  ['/t/$tenant/nodes', { tenant: 'acme' }, '/t/acme/nodes'],
  [
    '/t/$tenant/secrets/$namespace/$resource',
    { tenant: 'acme', namespace: 'shop', resource: 'a/b c?d#e' },
    '/t/acme/secrets/shop/a%2Fb%20c%3Fd%23e',
  ],
])('%s with %o is %s', (to, params, path) => {
  expect(pathOf(to, params)).toBe(path)
})
