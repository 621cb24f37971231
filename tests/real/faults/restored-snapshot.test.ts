// A snapshot of etcd is restored as operators do it: with and without a raised revision, with the same and with another
// cluster token. A server that ran, and one that starts again, refuse the store. A node whose agent connects
// through a server that could not know keeps every container until an operator has confirmed the store.

import { createOrphanWatch } from '@holdfast/agent/converge/orphan-watch'
import { openStoreGuard } from '@holdfast/agent/state/store-guard'
import {
  type AssignmentId,
  type Complete,
  type DesiredItem,
  defined,
  joinTemplates,
  type TenantId,
} from '@holdfast/contract'
import { aContainer } from '@holdfast/core/node/node-items.fixture'
import { openKnownStoreFile } from '@holdfast/server/lifecycle/known-store-file'
import { recogniseStore } from '@holdfast/server/lifecycle/recognise-store'
import { startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { confirmRestored, declareRestored } from '@holdfast/server/operations/restore/declare-restored'
import { chains } from '@holdfast/server/store/records'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { type EtcdCluster, makeTempFolder, startEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { type EtcdRestore, takeSnapshot } from '@holdfast/testkit/faults/etcd-snapshot'
import { inRun } from '@holdfast/testkit/long-run'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import {
  addTenant,
  anAssignment,
  type EnrolledNode,
  enroll,
  place,
} from '@holdfast/testkit/session/session-records'
import { startTestGateway, type TestGateway } from '@holdfast/testkit/session/start-gateway'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const ROUNDS = inRun(1, 20)
const MINUTE_MS = 60_000
const silent = pino({ enabled: false })
const BUMP = 1_000_000_000
let cluster: EtcdCluster

beforeAll(async () => {
  cluster = await startEtcd()
})
afterAll(() => cluster?.stop())

describe('a restored snapshot of etcd', () => {
  test.each<[string, () => EtcdRestore]>([
    ['plainly', () => ({})],
    ['with a raised revision', () => ({ bumpRevision: BUMP })],
    ['into another cluster', () => ({ token: uniqueName('token') })],
    [
      'into another cluster with a raised revision',
      () => ({ token: uniqueName('token'), bumpRevision: BUMP }),
    ],
  ])(
    'every server that knows more refuses a snapshot restored %s, and no container is removed',
    async (_, how) => {
      for (let round = 0; round < ROUNDS; round += 1) await restoreOnce(how())
    },
  )
})

async function restoreOnce(how: EtcdRestore): Promise<void> {
  const options = { endpoints: cluster.endpoints, root: `/${uniqueName('restored')}`, deadlineMs: 3_000 }
  const [running, stopped, away] = [await serverOf(options), await serverOf(options), await serverOf(options)]
  await away.stop()
  const gateway = await startTestGateway(options)
  const owner = await addTenant(gateway.store)
  const enrolled = [1, 2, 3, 4].map(() => enroll(gateway.store, owner))
  const nodes = await Promise.all(enrolled)
  const snapshot = await takeSnapshot(cluster)

  const agents = await Promise.all(nodes.map((node) => assignedAgent(gateway, owner, node)))
  const [up, restarted, absent, late] = agents
  if (up === undefined || restarted === undefined || absent === undefined || late === undefined)
    throw new Error('no agent')
  for (const agent of agents) expect(agent.counts()).toEqual([1, 0])
  for (const agent of [restarted, absent, late]) agent.disconnect()
  await Promise.all([running.beat(), stopped.beat()])
  await stopped.stop()
  await gateway.store.fresh()
  await snapshot.restore(how)

  // One server was up, one has its file, and one knows nothing that the snapshot lacks.
  await waitUntil(() => running.faults.length > 0, { what: 'the running server recognises the restore' })
  expect(running.faults).toHaveLength(1)
  await running.stop()
  await expect(running.start()).rejects.toMatchObject({ name: 'RestoredStoreError' })
  await expect(stopped.start()).rejects.toMatchObject({ name: 'RestoredStoreError' })
  if (how.token !== undefined)
    await expect(away.start()).rejects.toMatchObject({ name: 'RestoredStoreError' })
  // The session that stayed open received nothing that removes, before its server ended.
  await expect(gateway.store.fresh()).rejects.toMatchObject({ name: 'StoreUnavailableError' })
  expect(up.received().filter((message) => 'gone' in message && message.gone.length > 0)).toEqual([])
  await gateway.stop()

  const unaware = await startTestGateway(options)
  await restarted.restart()
  for (let minute = 0; minute < 3; minute += 1)
    for (const agent of [up, restarted]) await agent.connect(unaware)
  for (const agent of agents) expect(agent.counts()).toEqual([1, 0])
  await unaware.stop()

  const operator = await openTestStore(options)
  await declareRestored({ store: operator.store, clock, ids }, [])
  operator.close()
  await running.start()
  await running.beat()
  await running.stop()
  const declared = await startTestGateway(options)
  for (let minute = 0; minute < 3; minute += 1)
    for (const agent of [up, restarted, absent]) await agent.connect(declared)
  for (const agent of agents) expect(agent.counts()).toEqual([1, 0])
  expect(await confirmRestored({ store: declared.store }, undefined)).toBe('confirmed')
  await declared.store.fresh()
  // The agent that was away all the time connects after the confirmation, which is for it as well.
  for (let minute = 0; minute < 2; minute += 1) for (const agent of agents) await agent.connect(declared)
  for (const agent of agents) expect(agent.counts()).toEqual([0, 1])
  await declared.stop()
}

/** The agent of a node with one assignment that the snapshot lacks, connected to the gateway. */
async function assignedAgent(gateway: TestGateway, owner: TenantId, node: EnrolledNode) {
  const assignment = anAssignment(node.nodeId)
  await place(gateway.store, owner, [assignment])
  const agent = await agentOf(node.nodeId, assignment.id)
  let session: OpenAgent | undefined
  const connect = async (to: TestGateway): Promise<void> => {
    session?.close()
    session = await openRaw(to.url, node)
    agent.receive(session)
  }
  await connect(gateway)
  return {
    connect,
    disconnect: () => session?.close(),
    /** The messages of the newest session. */
    received: () => session?.heard ?? [],
    restart: agent.restart,
    /** The desired items, and the containers that would be removed now. */
    counts: () => [agent.known(), agent.removed()],
  }
}

interface ServerOptions {
  readonly endpoints: readonly string[]
  readonly root: string
  readonly deadlineMs: number
}

/** The part of a server that recognises a restore: store, file and heartbeats. */
async function serverOf(options: ServerOptions) {
  const folder = makeTempFolder('restored-server')
  onTestFinished(folder.remove)
  const faults: string[] = []
  const file = openKnownStoreFile(folder.path, () => {})
  let stop = async (): Promise<void> => {}
  let countNow = (): number => 0
  async function start(): Promise<void> {
    const opened = await openTestStore({ ...options, onRestored: ({ message }) => faults.push(message) })
    const { store } = opened
    const chain = await recogniseStore({ store, clock, ids, file }).catch((error: unknown) => {
      opened.close()
      throw error
    })
    const replica = uniqueName('srv')
    const leadership = startLeadership({
      store,
      clock,
      chain,
      replica,
      leads: false,
      url: `http://${replica}`,
      timings: TENTH,
      onError: () => {},
    })
    countNow = () => file.read()?.chain.count ?? 0
    let isOpen = true
    stop = async () => {
      if (!isOpen) return
      isOpen = false
      await leadership.stop()
      opened.close()
    }
    onTestFinished(stop)
    await waitUntil(() => countNow() > 0, { what: 'the first heartbeat' })
  }
  await start()
  return {
    faults,
    start,
    stop: () => stop(),
    /** Waits for the next heartbeat. */
    beat: async () => {
      const before = countNow()
      await waitUntil(() => countNow() > before, { what: `another heartbeat in ${chains.folder}` })
    },
  }
}

/** The part of an agent that decides what is removed: the guard of the store, the desired items and the orphans. */
async function agentOf(nodeId: Parameters<typeof anAssignment>[0], id: AssignmentId) {
  const folder = makeTempFolder('restored-node')
  onTestFinished(folder.remove)
  const open = () => openStoreGuard(folder.path, { nodeId, generation: 1 }, silent)
  const orphans = createOrphanWatch(silent)
  const own = [aContainer('A', 'running', { assignmentId: id, generation: 1 })]
  const desired = new Map<AssignmentId, DesiredItem>()
  let guard = await open()
  let minutes = 0
  return {
    receive({ session, heard }: Awaited<ReturnType<typeof openRaw>>): void {
      guard.noteSession(session)
      const set = heard.find((message): message is Complete => message.type === 'complete')
      if (set === undefined) throw new Error('no complete set')
      const sent = { revision: set.revision, complete: true, items: joinTemplates(set), gone: [] }
      const change = guard.check({ ...sent, ...defined({ store: set.store }) }, desired)
      if (change.complete) desired.clear()
      for (const item of change.items) desired.set(item.assignmentId, item)
      minutes += 1
      if (change.complete)
        orphans.addComplete({ assignments: new Set(desired.keys()), receivedMs: minutes * MINUTE_MS })
    },
    async restart() {
      await guard.settled()
      guard = await open()
    },
    known: () => desired.size,
    /** The number of containers that would be removed now. */
    removed: () => orphans.find(own, new Set(desired.keys())).length,
  }
}
