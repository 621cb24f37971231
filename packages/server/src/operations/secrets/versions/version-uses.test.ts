import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec, cachedRecords, someTenant } from '../../../store/records.fixture.ts'
import { deployments, type StoredCanary } from '../../../store/records.ts'
import { gatherUses } from './version-uses.ts'

const tenant = someTenant()
const DATABASE = { namespace: 'deployments', label: 'database', initial: 1 }
const secrets = [{ name: 'DB', vault_path: 'deployments/database', anchor: '', rotation: 'restart' }]

function usesWith(canary: StoredCanary): [number, readonly string[]][] {
  const { store, put } = cachedRecords(tenant)
  const spec = { ...aSpec('web'), secrets }
  put(deployments, 'web', aDeployment('web', { spec, pins: { database: 3 }, canary }))
  return [...gatherUses(store, tenant)(DATABASE)]
}

test('a canary uses the versions of its deployment unless it has its own', () => {
  expect(usesWith(aCanary({}))).toEqual([[3, ['web']]])
  expect(usesWith(aCanary({}, { pins: { database: 4 } }))).toEqual([
    [3, ['web']],
    [4, ['web']],
  ])
})

test('a canary that is over uses no version', () => {
  expect(usesWith(aCanary({}, { pins: { database: 4 }, phase: 'aborted' }))).toEqual([[3, ['web']]])
})
