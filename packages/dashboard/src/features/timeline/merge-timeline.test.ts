import type { AuditEntry, ListedEvent, TenantId, TokenId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { mergeTimeline, oldestTime } from './merge-timeline.ts'

const at = (second: number): string => new Date(second * 1000).toISOString()

const event = (id: string, second: number, audit?: string): ListedEvent => ({
  id,
  type: 'deployment.updated',
  tenant: 'acme' as TenantId,
  time: at(second),
  severity: 'info',
  subject: { kind: 'Deployment', name: 'shop', uid: 'dep_1' },
  reason: '',
  message: id,
  data: {},
  cursor: id,
  count: 1,
  firstSeen: at(second),
  lastSeen: at(second),
  ...(audit === undefined ? {} : { audit }),
})

const act = (id: string, second: number): AuditEntry => ({
  id,
  time: at(second),
  tenant: 'acme' as TenantId,
  actor: { token: 'tok_1' as TokenId, name: 'ci-main', role: 'developer' },
  onBehalf: false,
  action: 'deployments:update',
  subject: { kind: 'Deployment', name: 'shop' },
  requestId: 'r',
})

const shown = (events: readonly ListedEvent[], audit: readonly AuditEntry[]): string[] =>
  mergeTimeline(events, audit).map((entry) =>
    [entry.act?.id ?? '-', ...entry.events.map(({ id }) => id)].join(' '),
  )

test('the newest entry is first', () => {
  expect(shown([event('e1', 1), event('e3', 3)], [act('a2', 2)])).toEqual(['- e3', 'a2', '- e1'])
})

test('events are listed below the request that caused them, oldest first', () => {
  expect(shown([event('e9', 9, 'a1'), event('e2', 2, 'a1'), event('e5', 5)], [act('a1', 1)])).toEqual([
    '- e5',
    'a1 e2 e9',
  ])
})

test('an event whose request is not shown is listed alone', () => {
  expect(shown([event('e2', 2, 'gone')], [act('a1', 1)])).toEqual(['- e2', 'a1'])
})

test('older entries begin before the last one', () => {
  expect(oldestTime(mergeTimeline([event('e2', 2)], [act('a1', 1)]))).toBe(at(1))
  expect(oldestTime([])).toBeUndefined()
})
