import { expect, test } from 'vitest'
import { safeNext } from './safe-next.ts'

test.each([
  ['/ui/t/3f0c/deployments/shop/why', '/t/3f0c/deployments/shop/why'],
  ['/t/3f0c', '/t/3f0c'],
  ['/ui/login', '/'],
  ['//evil.example', '/'],
  ['https://evil.example/t/1', '/'],
  [String.raw`/t/\evil.example`, '/'],
  ['javascript:alert(1)', '/'],
  [undefined, '/'],
])('%s leads to %s', (next, path) => expect(safeNext(next)).toBe(path))
