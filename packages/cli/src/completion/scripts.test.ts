// The script of bash in a real one, with words cut as it cuts them.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { COMPLETION_SCRIPTS } from './scripts.ts'

/** What is asked for, and what bash is given to choose from. */
function completeInBash(words: readonly string[], offered: readonly string[]): string[] {
  const script = [
    `holdfast() { local IFS=' '; shift 2; printf 'asked: %s\\n' "$*" >&3; printf '%s\\n' ${offered.join(' ')}; }`,
    COMPLETION_SCRIPTS.bash,
    `COMP_WORDS=(holdfast ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`,
    '_holdfast 3>&1; printf \'%s\\n\' "${COMPREPLY[@]}"',
  ]
  return execFileSync('bash', ['-c', script.join('\n')], {
    encoding: 'utf8',
    // That nothing completes at the moment, which `compopt` finds too.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .trimEnd()
    .split(/ ?\n/)
}

test('bash asks with the words so far, an empty one too', () => {
  expect(completeInBash(['node', 'un'], ['uncordon'])).toEqual(['asked: node un', 'uncordon'])
  expect(completeInBash(['node', ''], ['list', 'drain'])).toEqual(['asked: node', 'list', 'drain'])
})

test('a colon, at which bash cuts, is part of a name; only what follows it is to be written', () => {
  const contexts = ['127.0.0.1:7400', '127.0.0.1:7500']
  const use = ['context', 'use', '127.0.0.1', ':']
  expect(completeInBash([...use, '7'], contexts)).toEqual(['asked: context use 127.0.0.1:7', '7400', '7500'])
  expect(completeInBash(use, contexts)).toEqual(['asked: context use 127.0.0.1:', '7400', '7500'])
  expect(completeInBash([...use, '7400', ''], [])).toEqual(['asked: context use 127.0.0.1:7400'])
})
