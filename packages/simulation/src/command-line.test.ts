import { expect, test } from 'vitest'
import { readArguments } from './command-line.ts'

test.each([
  [['s.yaml'], { file: 's.yaml', seed: undefined }],
  [['--seed', '7', 's.yaml'], { file: 's.yaml', seed: 7 }],
  [['--help'], 'help'],
])('reads %j', (words, expected) => {
  expect(readArguments(words)).toEqual(expected)
})

test.each([
  [[], 'Name the file of one script.'],
  [['a', 'b'], 'Name the file of one script.'],
  [['a', '--seed', 'x'], '--seed x: a whole number of at most 15 digits is accepted.'],
  [['a', '--sed', '1'], /Unknown option '--sed'/],
])('rejects %j and says why', (words, why) => {
  expect(readArguments(words)).toMatch(why)
})
