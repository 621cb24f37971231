// The words of a command line that belong to another command, and suggestions for unknown words.

import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../commands/index.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'
import { commandOf, protectVerbatim } from './option-words.ts'
import { suggestCommand } from './suggest.ts'

test.each([
  ['exec web ls -la /', 'exec web -- ls -la /'],
  ['exec -it web sh -c x', 'exec -it web -- sh -c x'],
  ['exec web -it sh', 'exec web -it -- sh'],
  ['--context b exec --replica 2 web ls --all', '--context b exec --replica 2 web -- ls --all'],
  ['exec --replica=2 web ls', 'exec --replica=2 web -- ls'],
  ['exec web -- ls -la', 'exec web -- ls -la'],
  ['exec web', 'exec web'],
  ['run -e A=b img ls -la', 'run -e A=b img -- ls -la'],
  ['run img -d', 'run img -d'],
  ['logs web -f', 'logs web -f'],
])('%s is read as %s', (typed, read) =>
  expect(protectVerbatim(typed.split(' '), COMMANDS, GLOBAL_OPTIONS).join(' ')).toBe(read),
)

describe('an unknown command', () => {
  const known = new Set(COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]))
  test.each([
    ['wait', /^holdfast rollout status NAME waits/],
    ['stop', /^holdfast scale NAME 0$/],
    ['creat', undefined],
    ['lgin', /^did you mean holdfast login\?$/],
    ['undo', /^holdfast rollout undo$/],
    ['join-token', /^holdfast node join-token$/],
    ['xyz', undefined],
  ])('%s suggests what fits', (word, expected) => {
    const suggested = suggestCommand(COMMANDS, undefined, word)
    if (expected === undefined) expect(suggested).toBeUndefined()
    else expect(suggested).toMatch(expected)
  })
  test('of a group suggests a word of the group', () =>
    expect(suggestCommand(COMMANDS, 'rollout', 'hstory')).toBe('did you mean holdfast rollout history?'))
  test('suggests only commands that exist, and no alias is a name of another command', () => {
    expect(known.size).toBe(COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]).length)
    for (const word of ['wait', 'open', 'create', 'stop', 'start', 'edit', 'patch', 'attach', 'down']) {
      const text = suggestCommand(COMMANDS, undefined, word) ?? ''
      for (const [, words = ''] of text.matchAll(/holdfast ([a-z-]+(?: [a-z]+)?)/g))
        expect(commandOf(COMMANDS, words.split(' ')), words).toBeDefined()
    }
  })
})
