// Runs the bash completion script in a real bash, with words split as bash splits them.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { COMPLETION_SCRIPTS } from './scripts.ts'

/** Runs a completion. Returns the words passed to `holdfast __complete`, then the candidates that bash shows. */
function completeInBash(words: readonly string[], offered: readonly string[]): string[] {
  const script = [
    `holdfast() { local IFS=' '; shift 2; printf 'words: %s\\n' "$*" >&3; printf '%s\\n' ${offered.join(' ')}; }`,
    COMPLETION_SCRIPTS.bash,
    `COMP_WORDS=(holdfast ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`,
    '_holdfast 3>&1; printf \'%s\\n\' "${COMPREPLY[@]}"',
  ]
  return execFileSync('bash', ['-c', script.join('\n')], {
    encoding: 'utf8',
    // stderr is ignored: compopt complains because no completion is running.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .trimEnd()
    .split(/ ?\n/)
}

test('bash passes the words so far, including an empty last one', () => {
  expect(completeInBash(['node', 'un'], ['uncordon'])).toEqual(['words: node un', 'uncordon'])
  expect(completeInBash(['node', ''], ['list', 'drain'])).toEqual(['words: node', 'list', 'drain'])
})

test('bash joins words split at a colon and inserts only the part after it', () => {
  const contexts = ['127.0.0.1:7400', '127.0.0.1:7500']
  const use = ['context', 'use', '127.0.0.1', ':']
  expect(completeInBash([...use, '7'], contexts)).toEqual(['words: context use 127.0.0.1:7', '7400', '7500'])
  expect(completeInBash(use, contexts)).toEqual(['words: context use 127.0.0.1:', '7400', '7500'])
  expect(completeInBash([...use, '7400', ''], [])).toEqual(['words: context use 127.0.0.1:7400'])
})
