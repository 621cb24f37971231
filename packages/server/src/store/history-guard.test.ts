import type { TransactionId } from '@holdfast/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { KeyValueEngine, WatchRequest } from '../ports/key-value.ts'
import { guardHistory } from './history-guard.ts'
import { putDeployment, someTenant } from './records.fixture.ts'
import { audit } from './records.ts'
import { openStore, type Store } from './store.ts'

const headerOf = ({ revision, clusterId }: { readonly revision: number; readonly clusterId: string }) => ({
  revision,
  clusterId,
})

/** An empty etcd that answers as the test says; its watch reports only events that the test sends. */
function scriptedEngine(revision: number) {
  const script = { revision, clusterId: 'a1', watched: undefined as WatchRequest | undefined }
  const engine: KeyValueEngine = {
    range: async () => ({ kvs: [], more: false, count: 0, ...headerOf(script) }),
    transact: async ({ success }) => ({
      succeeded: true,
      ...headerOf(script),
      results: success.map(() => ({ kind: 'put' as const })),
    }),
    watch(request) {
      script.watched = request
      return { requestProgress: () => {}, close: () => {} }
    },
    compact: async () => {},
    status: async () => [],
    close: () => {},
  }
  return { script, engine }
}

const READ = { key: '/probe/', countOnly: true }
const COMMIT = { compares: [], success: [], failure: [] }

describe('the history guard', () => {
  test('accepts responses that are as new as anything known before the request', async () => {
    const { script, engine } = scriptedEngine(7)
    const guard = guardHistory(engine, () => {
      throw new Error('reported')
    })
    await guard.engine.range(READ)
    await guard.engine.transact(COMMIT)
    script.revision = 9
    await guard.engine.range(READ)
    expect(() => guard.require()).not.toThrow()
  })

  test('refuses for good after one older response and reports it once', async () => {
    const { script, engine } = scriptedEngine(9)
    const reported: string[] = []
    const guard = guardHistory(engine, ({ message }) => reported.push(message))
    await guard.engine.range(READ)
    // The last revision, 12, is above the known revision 9, but it belongs to the history of the restored etcd.
    for (const revision of [4, 5, 12]) {
      script.revision = revision
      await guard.engine.range(READ)
    }
    expect(() => guard.require()).toThrow('etcd went back from revision 9 to 4')
    expect(reported).toEqual([expect.stringContaining('from revision 9 to 4')])
  })

  test.each(['range', 'transact'] as const)('learns the revision of every %s response', async (call) => {
    const { script, engine } = scriptedEngine(9)
    const guard = guardHistory(engine)
    await (call === 'range' ? guard.engine.range(READ) : guard.engine.transact(COMMIT))
    script.revision = 8
    await guard.engine.transact(COMMIT)
    expect(() => guard.require()).toThrow('etcd went back from revision 9 to 8')
  })

  test('learns the revisions of watched events and of progress notifications', async () => {
    for (const report of ['onEvents', 'onProgress'] as const) {
      const { script, engine } = scriptedEngine(3)
      const guard = guardHistory(engine)
      const passedOn: number[] = []
      guard.engine.watch({
        key: '/',
        startRevision: 4,
        onEvents: (_, revision) => passedOn.push(revision),
        onProgress: (revision) => passedOn.push(revision),
        onCompacted: () => {},
      })
      if (report === 'onEvents') script.watched?.onEvents([], 6)
      else script.watched?.onProgress(6)
      expect(passedOn).toEqual([6])
      await guard.engine.range(READ)
      expect(() => guard.require()).toThrow('etcd went back from revision 6 to 3')
    }
  })

  test('refuses for good after one response of another cluster, whatever its revision is', async () => {
    const { script, engine } = scriptedEngine(9)
    const reported: string[] = []
    const guard = guardHistory(engine, ({ message }) => reported.push(message))
    await guard.engine.range(READ)
    Object.assign(script, { revision: 1_000, clusterId: 'b2' })
    await guard.engine.range(READ)
    script.clusterId = 'a1'
    await guard.engine.range(READ)
    expect(() => guard.require()).toThrow('etcd answered as cluster b2 and was cluster a1 before')
    expect(reported).toEqual([expect.stringContaining('run `holdfast-server restored` once')])
  })

  test('ignores a serializable read, which a lagging member may answer', async () => {
    const { script, engine } = scriptedEngine(9)
    const guard = guardHistory(engine)
    await guard.engine.range(READ)
    script.revision = 4
    await guard.engine.range({ ...READ, serializable: true })
    expect(() => guard.require()).not.toThrow()
  })

  test('does not mistake a late response of a concurrent request for an older etcd', async () => {
    const { script, engine } = scriptedEngine(5)
    const answers: (() => void)[] = []
    const slow: KeyValueEngine = {
      ...engine,
      range(request) {
        const answered = engine.range(request)
        return new Promise((resolve) => answers.push(() => resolve(answered)))
      },
    }
    const guard = guardHistory(slow)
    const late = guard.engine.range(READ)
    script.revision = 8
    await guard.engine.transact(COMMIT)
    answers[0]?.()
    await late
    expect(() => guard.require()).not.toThrow()
  })
})

describe('a store whose watch lags behind its own commits', () => {
  const tenant = someTenant()
  const create = (store: Store, name: string) =>
    store.transact((transaction) => {
      putDeployment(transaction, tenant, name)
      return { kind: 'commit', result: 'created' }
    })
  const wentBack = { name: 'StoreUnavailableError', message: expect.stringContaining('went back') }

  async function openLagging() {
    const { script, engine } = scriptedEngine(3)
    const reported: string[] = []
    let last = 0
    const store = await openStore({
      engine,
      clock: { now: () => 0 },
      ids: { ulid: () => `tx-${++last}` as TransactionId, uuid: () => '', bytes: (n) => new Uint8Array(n) },
      onUnreadable: () => {},
      onRestored: ({ message }) => reported.push(message),
      deadlineMs: 200,
    })
    onTestFinished(() => store.close())
    script.revision = 6
    await create(store, 'lost')
    expect(store.revision).toBe(3)
    return { script, store, reported }
  }

  test('notices a restored etcd at its next fresh read', async () => {
    const { script, store, reported } = await openLagging()
    script.revision = 4
    await expect(store.fresh()).rejects.toMatchObject(wentBack)
    expect(reported).toEqual([expect.stringContaining('from revision 6 to 4')])
    await expect(create(store, 'new')).rejects.toMatchObject(wentBack)
  })

  test('notices a restored etcd when it reads values from it', async () => {
    const { script, store, reported } = await openLagging()
    script.revision = 4
    await expect(store.read(audit, ['/hf/any/'])).rejects.toMatchObject(wentBack)
    expect(reported).toEqual([expect.stringContaining('from revision 6 to 4')])
  })
})
