// Flags over environment over file, and a token goes only where it was given for.

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

describe('what is chosen', () => {
  test.each([
    ['the current context', {}, {}, { context: 'a', url: 'http://a', token: 'ta', tenant: 'na' }],
    [
      'another one by flag',
      { context: 'b' },
      { HOLDFAST_CONTEXT: 'a' },
      { context: 'b', url: 'http://b/', token: 'tb' },
    ],
    [
      'another one by variable',
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
      'an empty variable is none',
      {},
      { HOLDFAST_TOKEN: '' },
      { context: 'a', url: 'http://a', token: 'ta', tenant: 'na' },
    ],
    [
      'no token of the file for another address',
      {},
      { HOLDFAST_URL: 'http://evil' },
      { context: 'a', url: 'http://evil' },
    ],
    [
      'its token for its own address',
      { url: 'http://a/' },
      {},
      { context: 'a', url: 'http://a/', token: 'ta', tenant: 'na' },
    ],
    [
      'the authority of a context',
      { context: 'c' },
      {},
      { context: 'c', url: 'https://c', token: 'tc', caFile: '/ca' },
    ],
    [
      'no authority of the file for another address',
      { context: 'c', url: 'https://evil' },
      {},
      { context: 'c', url: 'https://evil' },
    ],
    [
      'an authority by flag over one by variable over that of the file',
      { context: 'c', caFile: '/flag' },
      { HOLDFAST_CA_FILE: '/variable' },
      { context: 'c', url: 'https://c', token: 'tc', caFile: '/flag' },
    ],
  ])('%s', (_, flags, env, settings) => expect(choose(flags, env)).toEqual({ ok: true, settings }))

  test.each(['evil', 'http://a/api', 'ftp://a', 'http://user:hunter2@a'])(
    'an address such as %s is refused',
    (url) => {
      const why = expect.stringMatching(/is no address of a platform: it must be an address such as https/)
      const chosen = choose({}, { HOLDFAST_URL: url })
      expect(chosen).toEqual({ ok: false, why })
      expect(JSON.stringify(chosen)).not.toContain('hunter2')
    },
  )

  test('a context that nobody knows is refused', () =>
    expect(choose({ context: 'd' })).toEqual({ ok: false, why: 'there is no context d; known are: a, b, c' }))
})

test('the file of contexts has a variable of its own: that of the server names another file', () => {
  const env = { HOME: '/home/ada', HOLDFAST_CONFIG: '/etc/holdfast/server.yaml' }
  expect(contextsPath(env)).toBe('/home/ada/.config/holdfast/config.yaml')
  expect(contextsPath({ ...env, HOLDFAST_CONTEXTS_FILE: '/tmp/contexts.yaml' })).toBe('/tmp/contexts.yaml')
})
