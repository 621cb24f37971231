import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../../../store/records.fixture.ts'
import { deployments } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { gatherDependencies } from './gather-facts.ts'

test('more dependencies than a commit compares are no cycle', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  const names = Array.from({ length: 100 }, (_, at) => `d${at}`)
  const dependsOn = (at: number) => Object.fromEntries(names.slice(at, at + 10).map((name) => [name, 'started']))
  for (let from = 0; from < names.length; from += 50)
    await write(store, (transaction) => {
      for (const [at, name] of names.slice(from, from + 50).entries()) {
        const spec = { ...aSpec(name), dependsOn: dependsOn(from + at + 1) }
        transaction.put(inTenant(tenant, deployments, name), aDeployment(name, { spec }))
      }
    })
  await store.fresh()
  const { graph, compares } = await store.transact((transaction) => ({
    kind: 'abort' as const,
    result: {
      graph: gatherDependencies(store, transaction, tenant, { ...aSpec('web'), dependsOn: dependsOn(0) }),
      compares: transaction.staged().compares.length,
    },
  }))
  expect([...graph.keys()]).toEqual(names)
  expect([...graph.values()].flatMap(({ dependsOn: each }) => each)).not.toContain('web')
  expect(compares).toBeLessThan(90)
})
