import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyspace, prefixRange } from './keys.ts'
import { someTenant } from './records.fixture.ts'

const keyspace = createKeyspace()
const tenant = someTenant()
const part = fc.string({ unit: fc.constantFrom('a', 'z', '0', '-', '.'), minLength: 1, maxLength: 8 })
const id = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))

const isWithin = (key: string, { key: from, rangeEnd = '' }: { key: string; rangeEnd?: string }) =>
  key >= from && key < rangeEnd

test('parses a key into the parts it was built from', () => {
  fc.assert(
    fc.property(part, id, (folder, name) => {
      expect(keyspace.parse(keyspace.tenantKey(tenant, folder, name))).toEqual({ tenant, folder, id: name })
      expect(keyspace.parse(keyspace.globalKey(folder, name))).toEqual({ folder, id: name })
    }),
  )
})

test('keeps ranges out of longer names, other tenants and other roots', () => {
  fc.assert(
    fc.property(part, part, id, (folder, longer, name) => {
      const other = createKeyspace('/hf2')
      const key = keyspace.tenantKey(tenant, folder, name)
      expect(isWithin(key, keyspace.everything())).toBe(true)
      expect(isWithin(key, keyspace.wholeTenant(tenant))).toBe(true)
      expect(isWithin(key, keyspace.wholeTenant(someTenant()))).toBe(false)
      expect(isWithin(key, keyspace.folderOf(tenant, folder))).toBe(true)
      expect(isWithin(key, keyspace.folderOf(tenant, `${folder}${longer}`))).toBe(false)
      expect(isWithin(other.globalKey(folder, name), keyspace.everything())).toBe(false)
      expect(isWithin(`${key}${longer}/`, keyspace.folderOf(tenant, folder, name))).toBe(true)
      const sibling = keyspace.tenantKey(tenant, folder, `${name}${longer}/1`)
      expect(isWithin(sibling, keyspace.folderOf(tenant, folder, name))).toBe(false)
    }),
  )
})

describe('a key outside the keyspace is not parsed', () => {
  test.each([
    '/hf',
    '/hf/',
    '/other/g/tenant/x/',
    '/hfx/g/tenant/x/',
    '/hf/g/tenant/x',
    '/hf/g/tenant/',
    '/hf/x/tenant/x/',
    '/hf/t/not-a-uuid/dep/x/',
    `/hf/t/${tenant}/`,
    `/hf/t/${tenant}/dep/`,
    `/hf/t/${tenant}x/dep/x/`,
    `/hf/t/${tenant.toUpperCase()}a/dep/x/`,
  ])('%s', (key) => expect(keyspace.parse(key)).toBeUndefined())
})

test('ends a prefix range at the next character', () => {
  expect(prefixRange('/a/')).toEqual({ key: '/a/', rangeEnd: '/a0' })
})
