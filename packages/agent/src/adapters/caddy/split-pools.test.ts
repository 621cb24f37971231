import { MAX_CANARY_WEIGHT } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pool } from '../../ports/router.ts'
import { drawPattern, readSplitLine } from './split-pools.ts'
import { upstreamLine } from './upstream-files.ts'

const ALL = 16 ** 4
const weights = Array.from({ length: MAX_CANARY_WEIGHT }, (_, at) => at + 1)
const backend = (pool: Partial<Pool>, canary?: Partial<Pool>, weight = 10) => ({
  name: 'web',
  routes: [],
  local: [],
  peers: [],
  ...pool,
  ...(canary === undefined ? {} : { canary: { weight, local: [], peers: [], ...canary } }),
})
const addresses = (count: number, net: number): string[] =>
  Array.from({ length: count }, (_, at) => `10.${net}.${Math.floor(at / 200)}.${(at % 200) + 2}`)

describe('the share of a canary', () => {
  test.each(weights)('is exact for a weight of %d percent, over all first digits of an id', (weight) => {
    const pattern = new RegExp(`^${drawPattern(weight)}`)
    let drawn = 0
    for (let id = 0; id < ALL; id += 1) if (pattern.test(id.toString(16).padStart(4, '0'))) drawn += 1
    expect(drawn).toBe(Math.round((weight / 100) * ALL))
  })

  test('does not depend on the numbers of replicas, and every replica is in the pool it belongs to', () => {
    const counts = fc.integer({ min: 1, max: 240 })
    fc.assert(
      fc.property(counts, counts, fc.constantFrom(...weights), (stable, canary, weight) => {
        const [own, others] = [addresses(canary, 1), addresses(stable, 2)]
        const line = upstreamLine(backend({ local: others }, { local: own }, weight), 80)
        expect(line.startsWith(`split${weight} here`)).toBe(true)
        const pools = readSplitLine(line)
        const placesOf = (text = '') => [...new Set(text.split(' ').slice(1))].sort()
        expect(placesOf(pools?.canary)).toEqual(own.map((each) => `${each}:80`).sort())
        expect(placesOf(pools?.stable)).toEqual(others.map((each) => `${each}:80`).sort())
      }),
    )
  })
})

describe('an upstream line', () => {
  const [here, there] = [{ local: ['10.1.0.2'] }, { peers: ['10.9.0.1:7843'] }]
  test.each<[string, string, RegExp]>([
    ['has no split without a canary', upstreamLine(backend(here), 80), /^here12 /],
    ['has no split while no replica of the canary is ready', upstreamLine(backend(here, {}), 80), /^here12 /],
    ['has no split for an aborted canary', upstreamLine(backend(here, here, 0), 80), /^here12 /],
    [
      'splits local replicas and those of another node',
      upstreamLine(backend(here, there), 80),
      /^split10 here12 .*\|away12 /,
    ],
    [
      'splits replicas of other nodes',
      upstreamLine(backend(there, there, 50), 80),
      /^split50 away12 .*\|away12 /,
    ],
    [
      'uses the canary if nothing else is ready',
      upstreamLine(backend({}, here), 80),
      /^here12 10\.1\.0\.2:80/,
    ],
    ['is empty without replicas', upstreamLine(backend({}, {}), 80), /^none$/],
  ])('%s', (_name, line, expected) => {
    expect(line).toMatch(expected)
  })
})
