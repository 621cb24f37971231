import { expect, test } from 'vitest'
import type { RangeResult, TransactionRequest, TransactionResult } from '../ports/key-value.ts'
import { createKeyspace } from './keys.ts'
import { createReserve } from './reserve.ts'

function engineWith(keys: string[]) {
  const put: string[] = []
  return {
    put,
    range: async (): Promise<RangeResult> => ({
      kvs: keys.map((key) => ({
        key,
        value: new Uint8Array(),
        createRevision: 1,
        modRevision: 1,
        version: 1,
      })),
      ...{ more: false, count: keys.length, revision: 1 },
    }),
    async transact({ success }: TransactionRequest): Promise<TransactionResult> {
      const removed = success.some(({ kind }) => kind === 'delete') ? keys.splice(0).length : 0
      for (const one of success)
        if (one.kind === 'put') {
          put.push(`${one.key} ${one.value.length}`)
          keys.push(one.key)
        }
      return { succeeded: true, revision: 2, results: [{ kind: 'delete', deleted: removed }] }
    },
  }
}

const MIB = 1024 ** 2
const keyspace = createKeyspace('/hf')

test('an eighth of the quota is reserved, in pieces, and what is there is not written again', async () => {
  const engine = engineWith(['/hf/reserve/1/'])
  const reserve = createReserve(engine, keyspace, 8 * MIB)
  await reserve.refill()
  expect(engine.put).toEqual([0, 2, 3].map((piece) => `/hf/reserve/${piece}/ 262144`))
  await reserve.refill()
  expect(engine.put).toHaveLength(3)
  expect(await reserve.release()).toBe(true)
  expect(await reserve.release()).toBe(false)
  await reserve.refill()
  expect(engine.put).toHaveLength(7)
})

test('at most 16 MiB are reserved, and no key of the reserve is a record', async () => {
  const engine = engineWith([])
  await createReserve(engine, keyspace, 100 * 1024 * MIB).refill()
  expect(engine.put).toHaveLength(64)
  expect(keyspace.parse('/hf/reserve/1/')).toBeUndefined()
})
