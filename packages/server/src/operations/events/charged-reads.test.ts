import { expect, test } from 'vitest'
import { audit } from '../../store/records.ts'
import { chargedReads } from './charged-reads.ts'

const READS: [string, number[], number][] = [
  ['a short page', [100], 0],
  ['no entry', [], 0],
  ['the longest page', [100, 100, 100, 100, 100], 4],
  ['many single entries', Array.from({ length: 250 }, () => 1), 2],
  ['a search through the history', Array.from({ length: 20 }, () => 100), 19],
]
test.each(READS)('%s costs as many requests as it reads hundreds', async (_, sizes, expected) => {
  let charged = 0
  const read = async (_collection: unknown, keys: readonly string[]) => keys.map(() => undefined)
  const store = { fresh: async () => {}, keysOf: () => [], read, revision: 1 }
  const reads = chargedReads(store, (requests) => {
    charged += requests
  })
  for (const size of sizes)
    await reads.read(
      audit,
      Array.from({ length: size }, (_each, at) => `${at}`),
    )
  expect(charged).toBe(expected)
})
