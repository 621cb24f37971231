import { expect, test } from 'vitest'
import { agentText, holdText, statusText, storageText, workOf } from './nodes.ts'

test('shows the used and total bytes of a pool, its fault, and nothing without a pool', () => {
  expect(storageText({ storage: { poolBytes: 128 * 1024 ** 2, usedBytes: 1024 ** 2 } })).toBe(
    '1MiB of 128MiB',
  )
  expect(storageText({ storage: { poolBytes: 0, usedBytes: 0, fault: 'pool_changed' } })).toBe('pool_changed')
  expect(storageText({})).toBe('')
})

test('shows why a node is degraded', () => {
  expect(statusText({ status: 'degraded', reason: 'pool_changed' })).toBe('degraded (pool_changed)')
  const faults = ['engine_silent', 'pool_changed'].map((reason) => ({ reason, since: '' }))
  expect(statusText({ status: 'degraded', reason: 'engine_silent', faults })).toBe(
    'degraded (engine_silent, pool_changed)',
  )
  expect(statusText({ status: 'ready' })).toBe('ready')
})

test('shows that a node removes nothing, and the command that ends it', () => {
  const hold = { reason: 'the store has epoch e2, and this node knew e1', since: '2026-11-19T04:00:00Z' }
  const node = { schedulable: true, controlPlane: false, claims: [] } as unknown as Parameters<
    typeof workOf
  >[0]
  expect(workOf({ ...node, hold })).toBe('accepted, removes nothing')
  expect(workOf(node)).toBe('accepted')
  expect(holdText({ hold })).toContain(
    'knew e1. An operator of the platform ends it with holdfast-server restored',
  )
  expect(holdText({})).toBe('')
})

test("shows whether a node's agent is outdated", () => {
  expect(agentText({ agentVersion: '0.1.0', agentOutdated: true })).toBe('0.1.0 (outdated)')
  expect(agentText({ agentVersion: '0.1.0' })).toBe('0.1.0')
  expect(agentText({})).toBe('')
})
