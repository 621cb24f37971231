import { expect, test } from 'vitest'
import { changedQuotas, limitText } from './changed-quotas.ts'

const QUOTAS = [
  { kind: 'nodes', used: 3, limit: 50 },
  { kind: 'volume_bytes', used: 0, limit: 2 ** 40 },
  { kind: 'stored_bytes', used: 10, limit: 2 ** 24 },
] as const

test('only quotas with another limit are sent', () => {
  const same = Object.fromEntries(QUOTAS.map((quota) => [quota.kind, limitText(quota)]))
  expect(changedQuotas(QUOTAS, same)).toEqual([])
  expect(changedQuotas(QUOTAS, { ...same, nodes: ' 80 ' })).toEqual([
    { kind: 'nodes', used: 3, from: 50, to: 80 },
  ])
  expect(changedQuotas(QUOTAS, { ...same, nodes: '', volume_bytes: 'much' })).toEqual([])
  expect(changedQuotas(QUOTAS, { ...same, nodes: '-1' })).toEqual([])
})

test('bytes are typed in the unit of their size', () => {
  expect(QUOTAS.map(limitText)).toEqual(['50', '1024', '16'])
  expect(changedQuotas(QUOTAS, { volume_bytes: '2048' })).toEqual([
    { kind: 'volume_bytes', used: 0, from: 2 ** 40, to: 2 ** 41 },
  ])
})
