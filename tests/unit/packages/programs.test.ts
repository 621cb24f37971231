import { PROGRAMS as TESTED } from '@holdfast/testkit/builds/programs'
import { expect, test } from 'vitest'
import { PROGRAMS as BUILT } from '../../../scripts/package/bundles/bundles.ts'

test('tests find every bundle at the path where the build writes it', () => {
  const built = Object.entries(BUILT).flatMap(([name, files]) => files.map((file) => `${name}/${file}`))
  expect(Object.values(TESTED).map(({ bundles }) => bundles)).toEqual(built)
})
