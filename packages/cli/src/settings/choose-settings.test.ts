// Tests the precedence of flags, environment and file, and that a stored token is used only for its own address.

import { describe, expect, test } from 'vitest'
import { chooseSettings } from './choose-settings.ts'
import { contextsPath } from './contexts-file.ts'

const contexts = {
  current: 'a',
  contexts: {
    a: { url: 'http://a', token: 'ta', tenant: 'na' },
    b: { url: 'http://b/', token: 'tb' },
    c: { url: 'https://c', token: 'tc', caFile: '/ca' },
  },
}
const choose = (flags: object, env: { [name: string]: string } = {}) =>
  chooseSettings({ flags, env, contexts })

describe('the chosen settings', () => {
  test.each([
    ['the current context', {}, {}, { context: 'a', url: 'http://a', token: 'ta', tenant: 'na' }],
    [
      'another context by flag',
      { context: 'b' },
      { HOLDFAST_CONTEXT: 'a' },
      { context: 'b', url: 'http://b/', token: 'tb' },
    ],
    [
      'another context by environment variable',
      {},
      { HOLDFAST_CONTEXT: 'b' },
      { context: 'b', url: 'http://b/', token: 'tb' },
    ],
    [
      'the environment over the file',
      {},
      { HOLDFAST_TOKEN: 'te' },
      { context: 'a', url: 'http://a', token: 'te', tenant: 'na' },
    ],
    [
      'a flag over the environment',
      { token: 'tf' },
      { HOLDFAST_TOKEN: 'te' },
      { context: 'a', url: 'http://a', token: 'tf', tenant: 'na' },
    ],
    [
      'an empty variable is ignored',
      {},
      { HOLDFAST_URL: '' },
      { context: 'a', url: 'http://a', token: 'ta', tenant: 'na' },
    ],
    [
      'no stored token for another address',
      {},
      { HOLDFAST_URL: 'http://evil' },
      { context: 'a', url: 'http://evil' },
    ],
    [
      'the stored token for its own address',
      { url: 'http://a/' },
      {},
      { context: 'a', url: 'http://a/', token: 'ta', tenant: 'na' },
    ],
    [
      'the CA file of a context',
      { context: 'c' },
      {},
      { context: 'c', url: 'https://c', token: 'tc', caFile: '/ca' },
    ],
    [
      'no stored CA file for another address',
      { context: 'c', url: 'https://evil' },
      {},
      { context: 'c', url: 'https://evil' },
    ],
    [
      'a CA file by flag over one by variable over the stored one',
      { context: 'c', caFile: '/flag' },
      { HOLDFAST_CA_FILE: '/variable' },
      { context: 'c', url: 'https://c', token: 'tc', caFile: '/flag' },
    ],
  ])('%s', (_, flags, env, settings) => {
    const chosen = choose(flags, env)
    if (!chosen.ok) throw new Error(chosen.why)
    const { tokenIsStored: _stored, ...rest } = chosen.settings
    expect(rest).toEqual(settings)
  })

  test('say whether the token is that of a stored context', () => {
    const stored = (flags: object, env = {}) => {
      const chosen = choose(flags, env)
      return chosen.ok && chosen.settings.tokenIsStored === true
    }
    expect(stored({})).toBe(true)
    expect(stored({ token: 'ta' })).toBe(false)
    expect(stored({}, { HOLDFAST_TOKEN: 'ta' })).toBe(false)
    expect(stored({ url: 'http://elsewhere' })).toBe(false)
  })

  test('an empty token variable is an error unless a flag names the token', () => {
    expect(choose({}, { HOLDFAST_TOKEN: '' })).toMatchObject({ ok: false })
    expect(choose({ token: 'tf' }, { HOLDFAST_TOKEN: '' })).toMatchObject({ ok: true })
  })

  test.each(['evil', 'http://a/api', 'ftp://a', 'http://user:hunter2@a'])(
    'rejects the address %s without printing a password',
    (url) => {
      const why = expect.stringMatching(
        /is not a valid platform address; it must be an address such as https/,
      )
      const chosen = choose({}, { HOLDFAST_URL: url })
      expect(chosen).toEqual({ ok: false, why })
      expect(JSON.stringify(chosen)).not.toContain('hunter2')
    },
  )

  test('rejects an unknown context and lists the known ones', () =>
    expect(choose({ context: 'd' })).toEqual({
      ok: false,
      why: 'there is no context d; known contexts: a, b, c',
    }))
})

test('HOLDFAST_CONTEXTS_FILE names the contexts file; HOLDFAST_CONFIG of the server does not', () => {
  const env = { HOME: '/home/ada', HOLDFAST_CONFIG: '/etc/holdfast/server.yaml' }
  expect(contextsPath(env)).toBe('/home/ada/.config/holdfast/config.yaml')
  expect(contextsPath({ ...env, HOLDFAST_CONTEXTS_FILE: '/tmp/contexts.yaml' })).toBe('/tmp/contexts.yaml')
})
