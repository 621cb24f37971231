// Which form of records is written while servers of two versions run: the older form until every live server replica reads
// the newer one. An older server that cannot read the store ends.

import { randomUUID } from 'node:crypto'
import { asTenantId, VERSION } from '@holdfast/contract'
import { sleep } from '@holdfast/server/lib/sleep'
import { startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import type { LeadershipTimings } from '@holdfast/server/loops/leadership/leadership-state'
import { finalizeUpgrade } from '@holdfast/server/operations/upgrade/finalize-upgrade'
import { demandForm } from '@holdfast/server/store/demand-form'
import { formatAddress, NewerFormatError } from '@holdfast/server/store/format'
import type { Finalize } from '@holdfast/server/store/next-format'
import { cancels, platform, serverReplicas } from '@holdfast/server/store/records'
import type { RecordForm } from '@holdfast/server/store/records/collection'
import type { Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { createPausable, type Pausable } from '@holdfast/testkit/controllers/pausable-engine'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { inRun } from '@holdfast/testkit/long-run'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const FORMS: readonly RecordForm[] = [{ v: 1, since: '0.1.0' }]
const NEWER: readonly RecordForm[] = [...FORMS, { v: 2, since: '9.9.0' }]
const ADDRESS = globally(cancels, 'any')

interface ServerOptions {
  readonly forms: readonly RecordForm[]
  readonly timings?: LeadershipTimings
  readonly pausable?: Pausable
  readonly finalize?: Finalize
}

/** Starts the store and the leadership of a server replica, as holdfast-server does. */
async function startServer(root: string, options: ServerOptions) {
  const { forms, timings = TENTH, pausable, finalize = 'auto' } = options
  const replica = uniqueName('srv')
  const ended: NewerFormatError[] = []
  const opened = await openTestStore({
    root,
    forms,
    finalize,
    onNewerFormat: (error) => ended.push(error),
    ...(pausable === undefined ? {} : { wrap: pausable.wrap }),
  })
  const leadership = startLeadership({
    store: opened.store,
    clock,
    replica,
    url: `http://${replica}`,
    timings,
    onError: () => {},
  })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    pausable?.resume()
    stopped ??= leadership.stop().then(opened.close)
    return stopped
  }
  onTestFinished(stop)
  const { store } = opened
  await waitUntil(() => ended.length > 0 || store.get(globally(serverReplicas, replica)) !== undefined, {
    what: `${replica} is registered`,
  })
  return { ...opened, replica, ended, stop }
}

const formatOf = (store: Store) => store.get(formatAddress)?.record
const writesNewForm = (store: Store) => formatOf(store)?.writes === 2

/** Writes a record of the given form; the kind of record does not matter. */
async function putRecord(store: Store, v: number): Promise<void> {
  await store.transact((transaction) => {
    transaction.put(ADDRESS, { v, at: '' })
    return { kind: 'commit', result: undefined }
  })
}

const putPlatform = (store: Store) =>
  store.transact<void>((transaction) => {
    transaction.put(globally(platform, 'id'), { v: 1, tenant: asTenantId(randomUUID()) })
    return { kind: 'commit', result: undefined }
  })

test('a new form is written only after the last server that cannot read it has ended', async () => {
  const root = `/${uniqueName('forms')}`
  const older = await startServer(root, { forms: FORMS })
  const newer = await startServer(root, { forms: NEWER })
  await sleep(2 * TENTH.silentMs)
  expect(formatOf(newer.store)).toEqual({ v: 1, reads: 1, writes: 1, by: '0.1.0' })
  await expect(putRecord(newer.store, 2)).rejects.toThrow('form 2 is not written before all servers read it')
  await putRecord(newer.store, 1)
  await older.stop()
  await waitUntil(() => writesNewForm(newer.store), { what: 'the new form is written' })
  expect(formatOf(newer.store)).toEqual({ v: 1, reads: 2, writes: 2, by: '9.9.0' })
  await putRecord(newer.store, 2)
  await newer.store.fresh()
  expect(newer.store.get(ADDRESS)?.record).toMatchObject({ v: 2 })
  expect(newer.unreadable).toEqual([])
})

test('an older server that is started later ends and names the oldest version that can read the store', async () => {
  const root = `/${uniqueName('forms')}`
  const newer = await startServer(root, { forms: NEWER })
  await waitUntil(() => writesNewForm(newer.store), { what: 'the new form is written' })
  const start = openTestStore({ root, forms: FORMS })
  await expect(start).rejects.toThrow(NewerFormatError)
  await expect(start).rejects.toThrow(/form 1\b.*form 2\b.*Start version 9\.9\.0 or later/)
})

test('an older server that was paused sees the new format before any record of that form, and uses nothing', async () => {
  const root = `/${uniqueName('forms')}`
  const pausable = createPausable()
  const older = await startServer(root, { forms: FORMS, pausable })
  const newer = await startServer(root, { forms: NEWER })
  pausable.pause()
  await waitUntil(() => writesNewForm(newer.store), { what: 'the new form is written' })
  await putRecord(newer.store, 2)
  pausable.resume()
  await waitUntil(() => older.ended.length === 1, { what: 'the older server ends' })
  await expect(older.store.fresh()).rejects.toThrow('Start version 9.9.0 or later')
  await expect(putRecord(older.store, 1)).rejects.toThrow('Start version 9.9.0 or later')
})

test('a newer server whose view of the store was late does not take an older server for dead', async () => {
  const root = `/${uniqueName('forms')}`
  const pausable = createPausable()
  const older = await startServer(root, { forms: FORMS })
  const newer = await startServer(root, { forms: NEWER, pausable })
  for (let round = 0; round < 3; round += 1) {
    await sleep(2 * TENTH.heartbeatMs)
    pausable.pause()
    await sleep(0.9 * TENTH.silentMs)
    pausable.resume()
    await sleep(2 * TENTH.checkMs)
  }
  expect(older.ended).toEqual([])
  expect(formatOf(newer.store)).toMatchObject({ writes: 1 })
})

test('a server that was removed as stale writes the format record again when it registers again', async () => {
  const { store, replica } = await startServer(`/${uniqueName('forms')}`, { forms: FORMS })
  const heartbeat = globally(serverReplicas, replica)
  await waitUntil(() => formatOf(store) !== undefined, { what: 'the format record is written' })
  const joinedAt = store.get(formatAddress)?.modRevision ?? 0
  await store.transact((transaction) => {
    transaction.delete(heartbeat)
    return { kind: 'commit', result: undefined }
  })
  await waitUntil(() => (store.get(formatAddress)?.modRevision ?? 0) > joinedAt, {
    what: 'the format record is written again',
  })
  expect(store.get(heartbeat)).toBeDefined()
})

test('a server that has not seen its removal yet does not register again without the format record', async () => {
  const root = `/${uniqueName('forms')}`
  const pausable = createPausable()
  const { store, replica } = await startServer(root, { forms: FORMS, pausable })
  const { store: other } = await startServer(root, { forms: FORMS })
  const heartbeat = globally(serverReplicas, replica)
  await waitUntil(() => formatOf(store) !== undefined, { what: 'the format record is written' })
  pausable.pause('events')
  await other.transact((transaction) => {
    transaction.delete(heartbeat)
    return { kind: 'commit', result: undefined }
  })
  const joinedAt = other.get(formatAddress)?.modRevision ?? 0
  await sleep(3 * TENTH.heartbeatMs)
  expect(other.get(heartbeat)).toBeUndefined()
  pausable.resume()
  await waitUntil(() => other.get(heartbeat) !== undefined, { what: 'the server is registered again' })
  expect(other.get(formatAddress)?.modRevision).toBeGreaterThan(joinedAt)
})

test('a server that starts while the form is raised either delays the form or ends', async () => {
  for (let round = 0; round < inRun(20, 200); round += 1) {
    const root = `/${uniqueName('forms')}`
    const first = await startServer(root, { forms: FORMS })
    const newer = await startServer(root, { forms: NEWER })
    const [second] = await Promise.all([
      sleep(Math.random() * 20).then(() =>
        startServer(root, { forms: FORMS }).catch((error: unknown) => {
          expect(error).toBeInstanceOf(NewerFormatError)
          return undefined
        }),
      ),
      first.stop(),
    ])
    await sleep(2 * TENTH.checkMs)
    const isAlive = second !== undefined && second.ended.length === 0
    expect(isAlive && writesNewForm(newer.store)).toBe(false)
    await Promise.all([second?.stop(), newer.stop()])
  }
})

test('a form on demand is raised by the first request that needs it, and only if every server reads it', async () => {
  const root = `/${uniqueName('forms')}`
  const onDemand: readonly RecordForm[] = [...FORMS, { v: 2, since: '9.9.0', onDemand: true }]
  const older = await startServer(root, { forms: FORMS })
  const newer = await startServer(root, { forms: onDemand })
  const servers = [`${older.replica} (${VERSION})`]
  expect(await demandForm(newer.store, 2)).toEqual({ kind: 'behind', servers })
  await older.stop()
  await sleep(2 * TENTH.silentMs)
  expect(formatOf(newer.store)).toMatchObject({ writes: 1 })
  expect(await demandForm(newer.store, 2)).toMatchObject({ kind: 'raise' })
  await putRecord(newer.store, 2)
  expect(formatOf(newer.store)).toEqual({ v: 1, reads: 2, writes: 2, by: '9.9.0' })
  await expect(openTestStore({ root, forms: FORMS })).rejects.toThrow(NewerFormatError)
})

test('an upgrade that an operator finalizes can be rolled back until then, and not afterwards', async () => {
  const root = `/${uniqueName('forms')}`
  const forms: readonly RecordForm[] = [...NEWER, { v: 3, since: '9.9.1', onDemand: true }]
  const older = await startServer(root, { forms: FORMS })
  const newer = await startServer(root, { forms, finalize: 'manual' })
  await putPlatform(newer.store)
  const refused = await finalizeUpgrade(newer.store)
  expect(refused).toMatchObject({ ok: false, text: expect.stringContaining(`${older.replica} (${VERSION})`) })
  await older.stop()
  await sleep(2 * TENTH.silentMs)
  expect(formatOf(newer.store)).toMatchObject({ writes: 1 })
  expect(await demandForm(newer.store, 3)).toEqual({ kind: 'not finalized' })
  const rolledBack = await startServer(root, { forms: FORMS })
  await putRecord(rolledBack.store, 1)
  await rolledBack.stop()
  expect(await finalizeUpgrade(newer.store)).toMatchObject({ ok: true })
  expect(formatOf(newer.store)).toMatchObject({ writes: 3, by: '9.9.1' })
  await putRecord(newer.store, 3)
  await expect(openTestStore({ root, forms: FORMS })).rejects.toThrow('Start version 9.9.1 or later')
  expect(await finalizeUpgrade(newer.store)).toMatchObject({
    ok: true,
    text: expect.stringContaining('Nothing to do'),
  })
})

test('an upgrade of a store without a platform is not finalized', async () => {
  const { store } = await startServer(`/${uniqueName('forms')}`, { forms: NEWER, finalize: 'manual' })
  expect(await finalizeUpgrade(store)).toMatchObject({ ok: false })
  await sleep(2 * TENTH.checkMs)
  expect(formatOf(store)).toMatchObject({ writes: 1 })
})
