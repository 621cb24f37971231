import type { Platform } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { findTroubles } from './find-troubles.ts'

const server = (id: string, alive: boolean): Platform['servers'][number] => ({
  id,
  startedAt: '',
  alive,
  leads: true,
  shards: 0,
  node: null,
})

const WELL: Platform = {
  at: '',
  answeredBy: 'srv_1',
  servers: [server('srv_1', true)],
  shards: { total: 64, unowned: [] },
  store: {
    state: 'connected',
    usedPercent: 12,
    fileBytes: 12,
    inUseBytes: 10,
    quotaBytes: 100,
    alarms: [],
  },
  secretsStore: { state: 'connected' },
  massFailureHold: { active: false, since: null, nodes: 0 },
}

test('a platform in order has no trouble', () => {
  expect(findTroubles(WELL)).toEqual([])
})

test('each trouble is named with the next step, errors before warnings', () => {
  const troubles = findTroubles({
    ...WELL,
    servers: [server('srv_1', true), server('srv_2', false)],
    shards: { total: 64, unowned: [3] },
    store: { ...WELL.store, usedPercent: 91, alarms: ['NOSPACE'] },
    secretsStore: { state: 'disconnected' },
    massFailureHold: { active: true, since: '', nodes: 12 },
  })
  expect(troubles.map(({ title }) => title)).toEqual([
    'A member of etcd reports the alarm NOSPACE.',
    '1 shard has no leader.',
    'The secrets store is disconnected.',
    'Many machines fell silent together: 12 nodes not declared failed.',
    'srv_2 sends no heartbeat.',
    'etcd is 91 % full.',
  ])
  expect(troubles.every(({ next }) => next !== '')).toBe(true)
})
