// A rejection without the parameters of its texts throws when it is created, which may be in a rare race only. So every
// call of `reject` with a fixed code is checked in the source.

import { join } from 'node:path'
import { entryOf, isCode } from '@holdfast/contract'
import { gatherSources, isInPackage } from '@holdfast/testkit/source-tree/source-tree'
import { expect, test } from 'vitest'

const hasParameters = (code: string): boolean => {
  if (!isCode(code)) return false
  const { expected, why } = entryOf(code)
  return /\{\w+\}/.test(expected + why)
}

/** The codes of calls without a fourth argument whose texts have parameters. */
function callsWithoutParameters(source: string): string[] {
  return [...source.matchAll(/\breject\('(\w+)',/g)].flatMap(({ index, 0: call, 1: code = '' }) => {
    const commas = countCommas(source.slice(index + call.length))
    return commas < 2 && hasParameters(code) ? [code] : []
  })
}

/** The commas between the arguments of a call, up to its end; a comma before the closing bracket does not count. */
function countCommas(rest: string): number {
  let depth = 1
  let commas = 0
  for (const [at, character] of [...rest].entries()) {
    if ('([{'.includes(character)) depth += 1
    if (')]}'.includes(character)) depth -= 1
    if (depth === 0) return commas
    if (character === ',' && depth === 1 && !/^\s*\)/.test(rest.slice(at + 1))) commas += 1
  }
  return commas
}

test('every rejection is created with the parameters of its texts', () => {
  const sources = [...gatherSources(join(import.meta.dirname, '../..'))].filter(
    ([path]) => isInPackage(path) && !path.endsWith('.test.ts'),
  )
  expect(sources.filter(([, source]) => source.includes('reject(')).length).toBeGreaterThan(50)
  expect(
    sources.flatMap(([path, source]) => callsWithoutParameters(source).map((code) => `${path} ${code}`)),
  ).toEqual([])
})

test('a call without parameters is found', () => {
  expect(callsWithoutParameters("reject('store_unavailable', 'store', undefined)")).toEqual([
    'store_unavailable',
  ])
  expect(callsWithoutParameters("reject('store_unavailable', at(a, b),\n undefined,\n)")).toEqual([
    'store_unavailable',
  ])
  expect(callsWithoutParameters("reject('store_unavailable', 'store', undefined, { cause })")).toEqual([])
})
