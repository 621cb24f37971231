import { expect, test } from 'vitest'
import { typedSettings } from './typed-settings.ts'

test('reads the flags of the line, except the one that is being typed', () => {
  expect(typedSettings(['--context', 'b', 'describe', ''])).toEqual({ context: 'b' })
  expect(typedSettings(['describe', '--url=http://x', '--tenant', 't', ''])).toEqual({
    url: 'http://x',
    tenant: 't',
  })
  expect(typedSettings(['--context', 'b'])).toEqual({})
  expect(typedSettings(['--context'])).toEqual({})
})
