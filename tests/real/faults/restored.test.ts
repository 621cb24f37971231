// etcd is restored from an older backup while servers run. The servers detect the lower revision and neither serve nor
// write from their cache; a restarted server reads the restored records, and no node loses a container.

import type { DesiredChange } from '@holdfast/agent/ports/session'
import { openStoreGuard } from '@holdfast/agent/state/store-guard'
import { type Complete, defined, joinTemplates } from '@holdfast/contract'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { deployments } from '@holdfast/server/store/records'
import { putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { write } from '@holdfast/simulation/conformance/fixtures'
import {
  type EtcdCluster,
  helloOf,
  makeTempFolder,
  startEtcd,
  uniqueName,
  waitUntil,
} from '@holdfast/testkit'
import { backUp } from '@holdfast/testkit/faults/etcd-backup'
import { dialRaw, openRaw, type RawAgent } from '@holdfast/testkit/session/raw-agent'
import { addTenant, anAssignment, enroll, place } from '@holdfast/testkit/session/session-records'
import { startTestGateway } from '@holdfast/testkit/session/start-gateway'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import pino from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const tenant = someTenant()
let cluster: EtcdCluster
let direct: KeyValueEngine

beforeAll(async () => {
  cluster = await startEtcd()
  direct = createEtcdClient({ endpoints: cluster.endpoints })
})
afterAll(async () => {
  direct?.close()
  await cluster?.stop()
})

const create = (store: Store, name: string) =>
  store.transact((transaction) => {
    putDeployment(transaction, tenant, name)
    return { kind: 'commit', result: 'created' }
  })
const namesIn = (store: Store) => store.list(deployments, tenant).map(({ record }) => record.spec.name)
const wentBack = { name: 'StoreUnavailableError', message: expect.stringContaining('went back') }

test('a running server fails every call and writes nothing, and a restarted one serves the restored records', async () => {
  const root = `/${uniqueName('restored')}`
  const open = async () => {
    const detected: string[] = []
    const options = { endpoints: cluster.endpoints, root, deadlineMs: 5_000 }
    const one = await openTestStore({ ...options, onRestored: ({ message }) => detected.push(message) })
    onTestFinished(() => one.close())
    return { ...one, detected }
  }
  const [reading, writing] = [await open(), await open()]
  await create(reading.store, 'kept')
  const backup = await backUp(cluster)
  for (const name of ['lost-1', 'lost-2', 'lost-3']) await create(reading.store, name)
  await writing.store.fresh()
  await backup.restore()
  const { revision } = await direct.range({ key: root, countOnly: true })

  await expect(reading.store.fresh()).rejects.toMatchObject(wentBack)
  // The restored etcd lacks the deployment, so the compares of this transaction fail.
  const change = writing.store.transact((transaction) => {
    if (transaction.get(inTenant(tenant, deployments, 'lost-1')) === undefined) throw new Error('not seen')
    putDeployment(transaction, tenant, 'lost-1', { revision: 2 })
    return { kind: 'commit', result: undefined }
  })
  await expect(change).rejects.toMatchObject(wentBack)
  for (const { store, detected } of [reading, writing]) {
    await expect(create(store, 'new')).rejects.toMatchObject(wentBack)
    await expect(store.fresh()).rejects.toMatchObject(wentBack)
    expect(detected).toHaveLength(1)
  }
  expect((await direct.range({ key: root, countOnly: true })).revision).toBe(revision)

  const { store } = await open()
  expect(namesIn(store)).toEqual(['kept'])
  expect(await create(store, 'new')).toBe('created')
})

test('no node loses a container: its running server sends nothing new, and a restarted one sends an older revision', async () => {
  const times = { resyncMs: 100, sweepMs: 20 }
  const options = { endpoints: cluster.endpoints, root: `/${uniqueName('restored')}`, deadlineMs: 5_000 }
  const running = await startTestGateway({ ...options, times })
  onTestFinished(() => running.stop())
  const owner = await addTenant(running.store)
  const [node, other] = [await enroll(running.store, owner), await enroll(running.store, owner)]
  const backup = await backUp(cluster)
  const assignment = anAssignment(node.nodeId)
  await place(running.store, owner, [assignment])
  // The backup lacks 20 revisions, more than are written after the restore, so etcd's revision stays lower than before.
  for (let each = 0; each < 20; each += 1) await write(direct, uniqueName('elsewhere'))
  const agent = await openRaw(running.url, node)
  await backup.restore()

  // New agent sessions are rejected; open sessions keep receiving their unchanged desired state.
  const stranger = await dialRaw(running.url)
  stranger.send(helloOf(other, (await stranger.next('challenge')).nonce))
  expect(await stranger.next('close')).toMatchObject({ code: 'unavailable' })
  const setsIn = ({ heard }: RawAgent) => heard.filter((message) => message.type === 'complete')
  const setsBefore = setsIn(agent).length
  await waitUntil(() => setsIn(agent).length > setsBefore + 1, { what: 'the set is sent again' })
  expect(agent.heard.filter(({ type }) => type === 'delta')).toEqual([])
  const idsIn = (set: Complete) => joinTemplates(set).map(({ assignmentId }) => assignmentId)
  for (const set of setsIn(agent)) expect(idsIn(set)).toEqual([assignment.id])

  await running.stop()
  const restarted = await startTestGateway(options)
  onTestFinished(() => restarted.stop())
  const returned = await openRaw(restarted.url, node)
  const [after] = setsIn(returned)
  if (after === undefined) throw new Error('no complete set')
  expect(idsIn(after)).toEqual([])
  const home = makeTempFolder('restored-agent')
  onTestFinished(home.remove)
  const guard = await openStoreGuard(
    home.path,
    { nodeId: node.nodeId, generation: 1 },
    pino({ enabled: false }),
  )
  guard.noteSession(agent.session)
  for (const set of setsIn(agent)) expect(guard.check(changeOf(set), new Map()).complete).toBe(true)
  // The restored store has lost the first session, so it gives its number again.
  guard.noteSession(returned.session)
  expect(guard.check(changeOf(after), new Map()).complete).toBe(false)
  await guard.settled()
})

const changeOf = (set: Complete): DesiredChange => ({
  revision: set.revision,
  complete: true,
  items: joinTemplates(set),
  gone: [],
  ...defined({ store: set.store }),
})
