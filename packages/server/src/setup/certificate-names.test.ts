import { expect, test } from 'vitest'
import { decodeNames } from './certificate-names.ts'

test.each([
  [undefined, []],
  ['DNS:localhost, IP Address:127.0.0.1', ['DNS:localhost', 'IP:127.0.0.1']],
  ['IP Address:2001:DB8:0:0:0:0:0:1', ['IP:2001:db8::1']],
])('%s has the names %j', (text, names) => {
  expect(decodeNames(text)).toEqual(names)
})
