import { expect, test } from 'vitest'
import { splitWords } from './split-words.ts'

test.each([
  ['./migrate --all', ['./migrate', '--all']],
  [`sh -c 'echo "a b"; exit 3'`, ['sh', '-c', 'echo "a b"; exit 3']],
  ['say "it\\"s" a\\ b', ['say', 'it"s', 'a b']],
  [`a'b c'd ''`, ['ab cd', '']],
  ['  ', []],
] as const)('%s', (text, words) => {
  expect(splitWords(text)).toEqual(words)
})
