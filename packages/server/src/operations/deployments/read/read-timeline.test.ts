// The order of a deployment's timeline, which events belong to it, and how repeated events are folded.

import type { Event, TenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { listedEvent } from '../../events/event-cursor.ts'
import { buildTimeline, type TimelineEntry } from './read-timeline.ts'

const TENANT = '00000000-0000-4000-8000-000000000000' as TenantId

interface Given extends Pick<Event, 'type'> {
  readonly revision: number
  readonly message: string
  readonly about?: string
  readonly reason?: string
  readonly data?: Event['data']
}

function timelineOf(given: readonly Given[], nodeIds: readonly string[] = []): string[] {
  return storyOf(given, nodeIds).timeline.map(({ message, count }) =>
    count === 1 ? message : `${message} x${count}`,
  )
}

/** Builds a timeline, newest first, from the test's events; events of one revision keep their order in the list. */
function storyOf(given: readonly Given[], nodeIds: readonly string[], unseen?: string) {
  const entries = given.map(
    ({ about = 'dep_A', reason = '', data = {}, revision, ...each }, index): TimelineEntry => {
      const ordinal = index
      const subject = { kind: about.startsWith('node') ? 'Node' : 'Deployment', name: about, uid: about }
      const event = {
        v: 1,
        id: `evt_${index}`,
        tenant: TENANT,
        time: '',
        severity: 'info' as const,
        ...each,
        subject,
        reason,
        data,
      }
      return [{ revision, ordinal }, listedEvent(event, `${revision}-${ordinal}`)]
    },
  )
  const found = entries.toSorted(
    ([left], [right]) => right.revision - left.revision || right.ordinal - left.ordinal,
  )
  const own = found.filter(([, { subject }]) => subject.kind === 'Deployment')
  const machines = found.filter(([, { subject }]) => subject.kind === 'Node')
  return buildTimeline(own, machines, nodeIds, unseen)
}

test('shows events of one transaction in their given order', () => {
  const revision = 7
  expect(
    timelineOf([
      { revision: 8, type: 'deployment.running', message: 'runs' },
      { revision, type: 'deployment.rolled_back', message: 'failed' },
      { revision, type: 'deployment.progressing', reason: 'rollout_step', message: 'removed' },
      { revision, type: 'deployment.scheduled', message: 'started again' },
      { revision: 6, type: 'deployment.updated', message: 'asked' },
    ]),
  ).toEqual(['runs', 'started again', 'removed', 'failed', 'asked'])
})

test('shows similar steps separately and folds identical events with their count', () => {
  const step = (revision: number, replica: number): Given => ({
    revision,
    type: 'deployment.scheduled',
    message: '1 replica went to n1.',
    data: { replicas: [{ replica }] },
  })
  expect(timelineOf([step(1, 1), step(2, 2), step(3, 2)])).toEqual([
    '1 replica went to n1. x2',
    '1 replica went to n1.',
  ])
})

test('shows node events since the first event, for nodes that have or had a replica', () => {
  const failed = (revision: number, about: string): Given => ({
    revision,
    about,
    type: 'node.failed',
    message: `${about} failed`,
  })
  const placed: Given = {
    revision: 3,
    type: 'deployment.scheduled',
    message: 'placed',
    data: { replicas: [{ replica: 1, nodeId: 'node_1' }] },
  }
  const given = [failed(1, 'node_1'), placed, failed(4, 'node_1'), failed(5, 'node_2'), failed(6, 'node_3')]
  expect(timelineOf(given, ['node_2'])).toEqual(['node_2 failed', 'node_1 failed', 'placed'])
})

const updated = (from: number, to: number, message = (at: number) => `${at}`): Given[] =>
  Array.from({ length: to - from + 1 }, (_, at) => ({
    revision: from + at,
    type: 'deployment.updated',
    message: message(from + at),
  }))

test('shows the newest fifty events', () => {
  const entries = timelineOf(updated(0, 119))
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([50, '119', '70'])
})

test('returns a cursor before the omitted events and counts folded ones', () => {
  const revisionOf = (cursor: string | undefined) => cursor?.split('-')[0]
  expect(storyOf(updated(1, 50), []).earlierCursor).toBeUndefined()
  expect(revisionOf(storyOf(updated(1, 52), []).earlierCursor)).toBe('3')
  const repeated = [...updated(1, 5, () => 'the same'), ...updated(6, 55)]
  expect(revisionOf(storyOf(repeated, []).earlierCursor)).toBe('6')
  expect(storyOf(updated(8, 9), [], '7-0').earlierCursor).toBe('7-0')
})
