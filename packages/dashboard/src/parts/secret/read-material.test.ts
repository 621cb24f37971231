import { expect, test } from 'vitest'
import { checkKeys, type KeyRow, readMaterial, type SecretSource } from './read-material.ts'

const row = (key: string, source: SecretSource = 'generate', id = key): KeyRow => ({ id, key, source })
const formWith = (fields: { readonly [name: string]: string | File }): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  return data
}

test('key names are checked before anything is sent', () => {
  expect(checkKeys([])).toBe('Name at least one key.')
  expect(checkKeys([row('')])).toBe('Name at least one key.')
  expect(checkKeys([row('9lives')])).toContain('"9lives" is not a key')
  expect(checkKeys([row('a'), row('a', 'typed', 'b')])).toBe('The key a is given twice.')
  expect(checkKeys([row('password'), row('user_2')])).toBeUndefined()
})

test('generated keys carry no value, typed ones and files do', async () => {
  const rows = [row('password'), row('user', 'typed', 'v1'), row('cert', 'file', 'v2')]
  const data = formWith({ v1: ' mailer ', v2: new File(['line\n'], 'tls.pem') })
  expect(await readMaterial(rows, data)).toEqual({
    ok: true,
    material: { values: { user: ' mailer ', cert: 'line\n' }, generate: { keys: ['password'] } },
  })
})

test('a missing value and a file that is not text are refused without the value', async () => {
  expect(await readMaterial([row('user', 'typed')], formWith({}))).toEqual({
    ok: false,
    why: 'user has no value.',
  })
  const bytes = new File([new Uint8Array([0xff, 0xfe, 0x00])], 'key.der')
  expect(await readMaterial([row('key', 'file')], formWith({ key: bytes }))).toEqual({
    ok: false,
    why: 'The file of key is not UTF-8 text.',
  })
})
