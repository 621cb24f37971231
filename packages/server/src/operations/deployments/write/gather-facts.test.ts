import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../../../store/records.fixture.ts'
import { deployments } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { gatherDependencies } from './gather-facts.ts'

test('more dependencies than a commit compares are no cycle', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  const names = Array.from({ length: 100 }, (_, at) => `d${at}`)
  const dependsOn = (at: number) =>
    Object.fromEntries(names.slice(at, at + 10).map((name) => [name, 'started' as const]))
  for (let from = 0; from < names.length; from += 50)
    await write(store, (transaction) => {
      for (const [at, name] of names.slice(from, from + 50).entries()) {
        const spec = { ...aSpec(name), dependsOn: dependsOn(from + at + 1) }
        transaction.put(inTenant(tenant, deployments, name), aDeployment(name, { spec }))
      }
    })
  await store.fresh()
  let compared = 0
  const graph = await store.transact((transaction) => {
    // An abort is decided again on a fresh view.
    compared = 0
    const counted: Pick<Transaction, 'get'> = {
      get(address) {
        compared += 1
        return transaction.get(address)
      },
    }
    const spec = { ...aSpec('web'), dependsOn: dependsOn(0) }
    return { kind: 'abort' as const, result: gatherDependencies(store, counted, tenant, spec) }
  })
  expect([...graph.keys()]).toEqual(names)
  expect([...graph.values()].flatMap(({ dependsOn: each }) => each)).not.toContain('web')
  expect(compared).toBe(80)
})
