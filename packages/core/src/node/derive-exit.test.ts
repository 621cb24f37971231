// Tests that an exit code which an engine may have recorded without seeing the end is never used without proof.

import { expect, test } from 'vitest'
import { deriveExit, mayBePlaceholder } from './derive-exit.ts'

const OLD = '1.41'
const BEFORE_255 = '1.43'
const SINCE_255 = '1.44'
const NEW = '1.56'

const rows: readonly [string, number, number | undefined, string | undefined, number | undefined][] = [
  ['a success that the engine announced', 0, 0, undefined, 0],
  ['a failure that the engine announced', 3, 3, undefined, 3],
  ['an exit code 255 that the engine announced', 255, 255, undefined, 255],
  ['0 of an old engine that announced no end', 0, undefined, OLD, undefined],
  ['0 of the last engine that records 0 for an unseen end', 0, undefined, BEFORE_255, undefined],
  ['0 of the first engine that records only 255 for an unseen end', 0, undefined, SINCE_255, 0],
  ['0 of a new engine that announced no end', 0, undefined, NEW, 0],
  ['0 of an engine whose version is unknown', 0, undefined, undefined, undefined],
  ['0 of an engine whose version cannot be read', 0, undefined, '2.0', undefined],
  ['255 of an old engine that announced no end', 255, undefined, OLD, undefined],
  ['255 of a new engine that announced no end', 255, undefined, NEW, undefined],
  ['another exit code of an engine that announced no end', 7, undefined, OLD, 7],
  ['137 of an engine that announced no end', 137, undefined, NEW, 137],
  ['0 after the engine announced a failure and was killed', 0, 3, undefined, 3],
  ['255 after the engine announced a failure and was killed', 255, 3, undefined, 3],
  ['255 after the engine announced a success and was killed', 255, 0, undefined, 0],
  ['0 after the engine announced that it could not read the exit code', 0, 255, undefined, undefined],
  ['another exit code after the engine could not read it', 7, 255, undefined, 7],
]

test.each(rows)('%s', (_about, recorded, announced, apiVersion, expected) => {
  expect(deriveExit({ recorded, announced, ...(apiVersion === undefined ? {} : { apiVersion }) })).toBe(
    expected,
  )
})

test('asks for proof only for the exit codes that engines record for unseen ends', () => {
  expect([0, 1, 3, 137, 143, 254, 255].filter(mayBePlaceholder)).toEqual([0, 255])
})
