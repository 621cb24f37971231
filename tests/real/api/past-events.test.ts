// Search in old events: one request reads a limited number of events and returns a cursor to the rest, so that no
// matching event is left out.

import type { EventPage, TenantId } from '@holdfast/contract'
import { readTimeline } from '@holdfast/server/operations/deployments/read/read-timeline'
import { type EventQuery, listEvents } from '@holdfast/server/operations/events/read-events'
import { MAX_SCANNED } from '@holdfast/server/operations/events/scan-events'
import { recordEvent } from '@holdfast/server/operations/record-write'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock } from '@holdfast/server/system-clock'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

async function storeWithTenant(): Promise<{ store: Store; tenant: TenantId }> {
  const { endpoints } = await sharedEtcd()
  const { store, close } = await openTestStore({ endpoints, root: `/${uniqueName('past')}` })
  onTestFinished(close)
  return { store, tenant: await world.addTenant(store) }
}

const AT_ONCE = 100
const BIRTH = 'created'

/** Writes one event about the object `uid` for each message. */
async function emit(store: Store, tenant: TenantId, uid: string, messages: readonly string[]): Promise<void> {
  for (let from = 0; from < messages.length; from += AT_ONCE)
    await world.write(store, (transaction) => {
      for (const message of messages.slice(from, from + AT_ONCE))
        recordEvent(transaction, clock, tenant, {
          type: message === BIRTH ? 'deployment.created' : 'deployment.updated',
          severity: 'info',
          cause: message,
          reason: '',
          message,
          data: {},
          subject: { kind: 'Deployment', name: uid, uid },
        })
    })
}

const NOISE = MAX_SCANNED + 50
const noise = Array.from({ length: NOISE }, (_, at) => `noise ${at}`)

test('every matching event among many is found by following the cursors', async () => {
  const { store, tenant } = await storeWithTenant()
  await emit(store, tenant, 'dep_quiet', ['first', 'second'])
  await emit(store, tenant, 'dep_loud', noise)
  const ask = async (query: Partial<EventQuery>): Promise<EventPage> => {
    const none = { after: undefined, before: undefined, type: undefined, severity: undefined }
    const listed = await listEvents(store, tenant, { ...none, limit: 1, subject: 'dep_quiet', ...query })
    if (!listed.ok) throw new Error(JSON.stringify(listed.rejections))
    return listed.value
  }
  const messages = ({ items }: EventPage) => items.map(({ message }) => message)
  // Reading backwards, a page may be empty and still have a cursor to older events.
  const newest = await ask({})
  expect([messages(newest), newest.earlierCursor]).toEqual([[], expect.any(String)])
  const older = await ask({ before: newest.earlierCursor })
  expect(messages(older)).toEqual(['second'])
  const oldest = await ask({ before: older.earlierCursor })
  expect([messages(oldest), oldest.earlierCursor]).toEqual([['first'], undefined])
  // Reading forwards from the first response's cursor returns each newer event once.
  await emit(store, tenant, 'dep_quiet', ['third'])
  expect(messages(await ask({ after: newest.nextCursor ?? '' }))).toEqual(['third'])
  const onwards = await ask({ after: oldest.items[0]?.cursor, limit: 2 })
  expect(messages(onwards)).toEqual(['second'])
  expect(messages(await ask({ after: onwards.nextCursor ?? '', limit: 2 }))).toEqual(['third'])
  // The timeline's search for older events stops early; /events continues from the cursor that the timeline returns.
  const storied = await readTimeline(store, tenant, { uid: 'dep_quiet', nodeIds: [] })
  expect(storied.timeline.map(({ message }) => message)).toEqual(['third'])
  expect(messages(await ask({ before: storied.earlierCursor, limit: 9 }))).toEqual(['first', 'second'])
})

test('a timeline that starts with the creation has no cursor to older events', async () => {
  const { store, tenant } = await storeWithTenant()
  await emit(store, tenant, 'dep_loud', noise)
  await emit(store, tenant, 'dep_new', [BIRTH])
  await emit(store, tenant, 'dep_new', ['changed'])
  await store.fresh()
  const { timeline, earlierCursor } = await readTimeline(store, tenant, { uid: 'dep_new', nodeIds: [] })
  expect([timeline.length, earlierCursor]).toEqual([2, undefined])
})

test('after and before together, or an invalid cursor, are rejected', async () => {
  const { store, tenant } = await storeWithTenant()
  const ask = (query: Pick<EventQuery, 'after' | 'before'>) =>
    listEvents(store, tenant, {
      ...query,
      limit: 1,
      type: undefined,
      severity: undefined,
      subject: undefined,
    })
  for (const query of [
    { after: '0-0', before: '7-0' },
    { after: undefined, before: 'then' },
  ])
    expect(await ask(query)).toMatchObject({
      ok: false,
      rejections: [{ code: 'query_parameter_invalid', field: 'before' }],
    })
})
