// Promises between the agents of two nodes in processes of their own, with real pools and connections: they are renewed,
// outlive the death of an agent, and a copy that has voted acknowledges no renewal of that version.

import { createPrivateKey } from 'node:crypto'
import type { AskedVolume, Configuration, ConfigureRequest, DesiredCopy, VolumeId } from '@holdfast/contract'
import { growGroup, shrinkGroup } from '@holdfast/core/promotion/controller'
import type { GroupRecord } from '@holdfast/core/promotion/group-record'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIB } from '../adapters/btrfs/pool.fixture.ts'
import { selfSignedIdentity } from '../peer/certificate.ts'
import type { PeerConnection } from '../peer/connection.ts'
import { dialPeer } from '../peer/dial.ts'
import type { Answer, RenewItem, RenewRequest } from '../peer/messages.ts'
import { nameOfSet } from '../peer/renewals.ts'
import { newNodeId, newVolumeId } from '../replication/peer-nodes.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { createPromisingNode, type PromisingNode } from './promising-node.fixture.ts'

const LEASE_MS = 3_000
const volume: VolumeId = newVolumeId()
const PATIENCE = { timeout: 60_000, interval: 50 }

let primary: PromisingNode
let replica: PromisingNode
/** A third node of the tenant, which both know as a peer and which has no copy of the volume. */
const stranger = { id: newNodeId(), key: generateNodeKeys().identityKey }
/** The server: the stored record, and the requests that it has received. */
let record: GroupRecord
const received: (ConfigureRequest & { readonly atMs: number })[] = []

function configure(requests: readonly ConfigureRequest[]): Configuration[] {
  for (const { kind, epoch, cv = 0, nodeId: node = '' } of requests) {
    const from = primary.id
    if (kind === 'shrink') record = shrinkGroup(record, { kind, from, epoch, node }).record
    if (kind === 'grow') record = growGroup(record, { kind, from, epoch, cv, node }).record
  }
  received.push(...requests.map((one) => ({ ...one, atMs: performance.now() })))
  return [configuration()]
}
const configuration = (): Configuration => ({
  volume,
  epoch: record.epoch,
  primary: primary.id,
  promotable: record.promotable.includes(replica.id) ? [replica.id] : [],
  cv: record.cv,
})

/** Sends both nodes their copies as the record has them. */
function announce(): void {
  const { epoch, cv, promotable } = configuration()
  const copy: DesiredCopy = {
    volume,
    epoch,
    role: 'primary',
    sizeBytes: 16 * MIB,
    desired: 'present',
    mayCreate: true,
    peers: [replica.id],
    cv,
    promotable,
  }
  const third = { nodeId: stranger.id, address: '127.0.0.1:9', publicKeys: [publicKeyText(stranger.key)] }
  primary.apply([copy], [replica.peer, third])
  replica.apply([{ ...copy, role: 'replica', peers: [primary.id] }], [primary.peer, third])
}
const asked = (): AskedVolume => ({ volume, epoch: 1, cv: record.cv })
const isPromotable = (): boolean => record.promotable.includes(replica.id)
const untilPromotable = async (): Promise<void> => {
  await expect.poll(isPromotable, PATIENCE).toBe(true)
  announce()
}
const sinceNow = () => {
  const count = received.length
  return () => received.slice(count)
}

beforeAll(async () => {
  primary = await createPromisingNode(LEASE_MS, configure)
  replica = await createPromisingNode(LEASE_MS, configure)
  record = { epoch: 1, primary: primary.id, promotable: [], cv: 1, handover: undefined }
  await Promise.all([primary.start(), replica.start()])
  announce()
}, 60_000)
afterAll(async () => {
  await primary?.remove()
  await replica?.remove()
})

test('a copy becomes promotable once it is current, and its promises extend the lease', async () => {
  expect(await primary.endMs(volume)).toBeNull()
  await untilPromotable()
  const first = await primary.endMs(volume)
  await expect.poll(async () => ((await primary.endMs(volume)) ?? 0) > (first ?? 0), PATIENCE).toBe(true)
  const answer = await replica.ask('prepare', asked())
  expect(answer).toMatchObject({ state: 'promised', epoch: 1, held: [{ epoch: 1, number: 1 }] })
  await expect
    .poll(async () => (await replica.ask('promises', asked()))?.held[0]?.takenAt?.boot, PATIENCE)
    .toBe(1)
  expect(answer?.lastWriteBy?.ms).toBeGreaterThan(0)
  expect(await primary.ask('promises', asked())).toMatchObject({ state: 'primary' })
}, 90_000)

const ITEMS: readonly RenewItem[] = [{ volume, epoch: 1, cv: 1_000 }]

async function speak(
  key: ReturnType<typeof createPrivateKey>,
  requests: readonly Partial<RenewRequest>[],
  items = ITEMS,
): Promise<Answer[]> {
  const connection = await dialPeer(replica.peer, { identity: selfSignedIdentity(key), allowLocal: true })
  const answers: Answer[] = []
  try {
    for (const changes of requests) answers.push(await renewOnce(connection, changes, items))
    return answers
  } finally {
    connection.close()
  }
}

async function renewOnce(
  connection: PeerConnection,
  changes: Partial<RenewRequest>,
  items: readonly RenewItem[],
) {
  const set = nameOfSet(items)
  const sent = { boot: 1, ms: 1 }
  const request = { request: 'renew', sent, lease: LEASE_MS, set, isFull: true, ...changes } as const
  await connection.request(request)
  if (request.isFull) await connection.sendSet(items)
  return connection.readAnswer(10_000)
}

test('a node that is not the primary gets no acknowledgment', async () => {
  const [answer] = await speak(stranger.key, [{}])
  expect(answer).toMatchObject({ answer: 'renewed', refused: [0] })
  expect(await replica.ask('promises', asked())).toMatchObject({ state: 'promised', cv: record.cv })
})

test('another lease, an unknown set and unknown volumes are refused', async () => {
  const key = createPrivateKey(primary.key)
  const unknown = [{ volume: newVolumeId(), epoch: 1, cv: 1 }]
  const answers = await speak(
    key,
    [{ lease: LEASE_MS + 1 }, { set: 'A'.repeat(22), isFull: false }, {}],
    unknown,
  )
  expect(answers.map(({ answer, reason }) => reason ?? answer)).toEqual([
    'other_lease',
    'unknown_set',
    'renewed',
  ])
  expect(answers[2]?.refused).toEqual([0])
})

test('an old renewal that arrives late or twice does not move the last write back', async () => {
  const before = (await replica.ask('promises', asked()))?.lastWriteBy?.ms ?? 0
  const current = [{ volume, epoch: 1, cv: record.cv }]
  const answers = await speak(createPrivateKey(primary.key), [{}, {}], current)
  expect(answers.map(({ answer, refused }) => [answer, refused])).toEqual([
    ['renewed', undefined],
    ['renewed', undefined],
  ])
  expect((await replica.ask('promises', asked()))?.lastWriteBy?.ms).toBeGreaterThanOrEqual(before)
})

test('a copy whose agent dies is dropped, and returns when it is current', async () => {
  await expect.poll(isPromotable, PATIENCE).toBe(true)
  const requests = sinceNow()
  await replica.kill()
  await expect.poll(isPromotable, PATIENCE).toBe(false)
  const [shrink] = requests().filter(({ kind }) => kind === 'shrink')
  expect(shrink).toBeDefined()
  await expect.poll(() => primary.endMs(volume), PATIENCE).toBeNull()
  await replica.start()
  announce()
  await untilPromotable()
}, 90_000)

test('a copy whose agent and primary have died votes after a whole promise, and its vote outlives its agent', async () => {
  announce()
  await Promise.all([primary.kill(), replica.kill()])
  await replica.start()
  announce()
  expect(await replica.ask('prepare', asked())).toMatchObject({ state: 'promised' })
  await expect
    .poll(() => replica.reports.some(({ isPromiseExpired }) => isPromiseExpired === true), PATIENCE)
    .toBe(true)
  const answer = await replica.ask('prepare', asked())
  expect(answer).toMatchObject({ state: 'voted', cv: record.cv, held: [{ epoch: 1 }] })
  // It has restarted, and no renewal has named this start.
  expect(answer?.lastWriteBy).toBeUndefined()
  expect(replica.reports.filter(({ isPromiseExpired }) => isPromiseExpired === true)).toHaveLength(1)
  await replica.kill()
  await replica.start()
  announce()
  expect(await replica.ask('promises', asked())).toMatchObject({ state: 'voted', cv: record.cv })
}, 90_000)

test('a copy that has voted refuses renewals and checkpoints of that version, until the primary has dropped it', async () => {
  const key = createPrivateKey(primary.key)
  const [answer] = await speak(key, [{}], [{ volume, epoch: 1, cv: record.cv }])
  expect(answer?.refused).toEqual([0])
  const connection = await dialPeer(replica.peer, { identity: selfSignedIdentity(key), allowLocal: true })
  await connection.request({ request: 'copy', volume, checkpoint: { epoch: 1, number: 99 } })
  expect(await connection.readAnswer(10_000)).toEqual({ answer: 'refused', reason: 'voted' })
  connection.close()
  await primary.start()
  announce()
  await expect.poll(isPromotable, PATIENCE).toBe(false)
  // A renewal of the newer version withdraws the vote.
  await expect.poll(async () => (await replica.ask('promises', asked()))?.state, PATIENCE).toBe('promised')
}, 90_000)
