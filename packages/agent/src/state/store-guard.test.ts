// A node whose server shows a restored store keeps everything until an operator confirms the store, also after the agent
// was restarted. See docs/design/restored-stores.md#agents

import { type AssignmentId, branded, decode, type NodeId, type VolumeId } from '@holdfast/contract'
import { anItem } from '@holdfast/core/node/node-items.fixture'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { DesiredChange } from '../ports/session.ts'
import { openStoreGuard } from './store-guard.ts'

const owner = { nodeId: decode(branded<NodeId>(), 'node_1'), generation: 1 }
const none = new Map<AssignmentId, { readonly desired: 'running' }>()
const aSet = (revision: number, store?: DesiredChange['store']): DesiredChange => ({
  revision,
  complete: true,
  items: [],
  gone: [],
  ...(store === undefined ? {} : { store }),
})

function someNode() {
  const { path, remove } = makeTempFolder('store-guard')
  onTestFinished(remove)
  const logged: string[] = []
  const log = pino({}, { write: (line: string) => logged.push(line) })
  return { logged, open: (of = owner) => openStoreGuard(path, of, log) }
}

test('a hold outlasts restarts of the agent and ends with the confirmed epoch', async () => {
  const { open, logged } = someNode()
  const first = await open()
  first.noteSession(7)
  expect(first.check(aSet(100, { epoch: 'e1' }), none).complete).toBe(true)
  first.noteSession(3)
  expect(first.check(aSet(101, { epoch: 'e1' }), none).complete).toBe(false)
  await first.settled()

  const second = await open()
  expect(second.held).toContain('number 3, and this node had 7 before')
  second.noteSession(8)
  expect(second.check(aSet(200, { epoch: 'e1' }), none).complete).toBe(false)
  expect(second.check(aSet(200, { epoch: 'e2', unconfirmed: true }), none).complete).toBe(false)
  await second.settled()

  const third = await open()
  third.noteSession(5)
  expect(third.check(aSet(50, { epoch: 'e2' }), none).complete).toBe(true)
  expect(third.held).toBeUndefined()
  await third.settled()
  expect((await open()).held).toBeUndefined()
  expect(logged.filter((line) => line.includes('store was restored'))).toHaveLength(3)
})

test('another enrollment of the machine remembers nothing', async () => {
  const { open } = someNode()
  const first = await open()
  first.noteSession(7)
  first.check(aSet(100, { epoch: 'e1' }), none)
  await first.settled()
  const next = await open({ ...owner, generation: 2 })
  next.noteSession(1)
  expect(next.check(aSet(2, { epoch: 'e9', unconfirmed: true }), none).complete).toBe(true)
})

test('a node that holds applies what is added and nothing that stops or removes', async () => {
  const { open } = someNode()
  const guard = await open()
  guard.noteSession(2)
  guard.check(aSet(100), none)
  guard.noteSession(1)
  const [kept, added, stopped] = [anItem('A'), anItem('B'), anItem('C')]
  const change: DesiredChange = {
    ...aSet(101),
    items: [{ ...kept, desired: 'removed' }, added, { ...stopped, desired: 'stopped' }],
    gone: [stopped.assignmentId],
    goneCopies: ['vol_1'],
    goneNetworks: ['net_1'],
    unrouted: ['dep_1'],
    jobLogs: [],
    offers: [],
    copies: [
      {
        volume: decode(branded<VolumeId>(), 'vol_1'),
        epoch: 1,
        role: 'primary',
        sizeBytes: 1,
        desired: 'removed',
        mayCreate: false,
        peers: [],
      },
    ],
  }
  const running = new Map(
    [kept, stopped].map(({ assignmentId }) => [assignmentId, { desired: 'running' as const }]),
  )
  expect(guard.check(change, running)).toEqual({
    revision: 101,
    complete: false,
    items: [added],
    gone: [],
    unrouted: [],
    goneCopies: [],
    goneNetworks: [],
    copies: [],
  })
})
