// Tests the route table with random sequences of record changes. After each change the table equals a computation from
// all records, so do the routes of a node that received only changes, and no tenant receives data of another tenant.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentUid,
  type NodeId,
  type Observation,
  ownerOf,
  REPLICA_STATES,
} from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Change } from '../../store/cache/record-index.ts'
import { deployments, nodes, observations, placements } from '../../store/records.ts'
import { type Address, inTenant, placementAt } from '../../store/transaction.ts'
import type { NodeAddress } from '../deps.ts'
import { createDesiredIndex } from '../desired/desired-index.ts'
import {
  ACME,
  aDeploymentOf,
  aNode,
  anAssignment,
  anObservation,
  aPlacement,
  begin,
  beginRunning,
  createListener,
  expectedRoutes,
  GLOBEX,
  IDS,
  id26,
  NAMES,
  NODES,
  ofReplica,
  type Records,
  TENANTS,
  UIDS,
} from './route-table.fixture.ts'

type Step = (records: Records) => Change[]
/** Number of random sequences of changes, in a CI run and in a long run. The timeout is generous for busy machines. */
const RUNS = inRun(300, 5_000)
const TIMEOUT_MS = 300_000

const one = <T>(list: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...list)
const tenant = one(TENANTS)
const rarely = one([false, false, false, true])

const nodeStep = fc
  .tuple(
    tenant,
    one(NODES),
    one(['ready', 'ready', 'unreachable', 'failed'] as const),
    one(['', 'a', 'b', 'shared']),
  )
  .map(([owner, nodeId, status, address]): Step => {
    const host = address === 'shared' ? 'shared' : `${nodeId.at(-1)}-${address}`
    const advertised = address === '' ? {} : { peerAddress: `${owner[0]}-${host}:80` }
    return (records) => records.put(inTenant(owner, nodes, nodeId), aNode(nodeId, { status, ...advertised }))
  })
/** Puts a deployment. The uid is derived from the name; a recreated deployment gets a second uid for the same name. */
const deploymentStep = fc
  .tuple(tenant, one([0, 1]), rarely, fc.subarray(['a.example', 'b.example']), rarely)
  .map(([owner, n, again, hosts, deleting]): Step => {
    const uid = `dep_${id26(n + (again ? 10 : 0))}` as DeploymentUid
    const record = aDeploymentOf(NAMES[n] ?? '', uid, hosts, deleting)
    return (records) => records.put(inTenant(owner, deployments, NAMES[n] ?? ''), record)
  })
const placedUid = one([0, 0, 1, 1, 10, 11]).map((n) => `dep_${id26(n)}` as DeploymentUid)
const placementStep = fc
  .tuple(
    tenant,
    placedUid,
    fc.subarray([0, 1, 2], { minLength: 1 }),
    one(['running', 'running', 'running', 'stopped', 'removed'] as const),
  )
  .map(([owner, uid, replicas, last]): Step => {
    const assignments = replicas.map((n, index) =>
      ofReplica(uid, n, index + 1 === replicas.length ? last : 'running'),
    )
    return (records) =>
      records.put(placementAt(owner, ownerOf('deployment', uid)), aPlacement(uid, assignments))
  })
const assignmentId = one([0, 1, 2, 3, 4, 5, 30, 31, 32]).map((n) => `rep_${id26(n)}` as AssignmentId)
const observationStep = fc
  .tuple(
    tenant,
    assignmentId,
    one<Observation['state']>(['ready', 'ready', 'ready', ...REPLICA_STATES]),
    one(['', '', 'unhealthy']),
  )
  .map(
    ([owner, id, state, reason]): Step =>
      (records) =>
        records.put(inTenant(owner, observations, id), anObservation(id, state, reason)),
  )
const deleteStep = fc
  .tuple(
    tenant,
    fc.oneof(
      one(NODES).map((id) => [nodes, id] as const),
      one(NAMES).map((id) => [deployments, id] as const),
      placedUid.map((uid) => [placements, ownerOf('deployment', uid)] as const),
      assignmentId.map((id) => [observations, id] as const),
    ),
  )
  .map(
    ([owner, [collection, id]]): Step =>
      (records) =>
        records.delete(inTenant<unknown>(owner, collection, id)),
  )
const steps = fc.oneof(
  { arbitrary: nodeStep, weight: 3 },
  { arbitrary: deploymentStep, weight: 2 },
  { arbitrary: placementStep, weight: 4 },
  { arbitrary: observationStep, weight: 5 },
  { arbitrary: deleteStep, weight: 1 },
)
/** Random sequences of changes. Some changes arrive together, as in one batch of the store. */
const histories = fc.array(fc.array(steps, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 40 })

const isRemovalOf = ({ kind, key }: Change, { tenant, nodeId }: NodeAddress): boolean =>
  kind === 'delete' && key.folder === nodes.folder && key.tenant === tenant && key.id === nodeId

const everyNode = TENANTS.flatMap((owner) => NODES.map((nodeId) => ({ tenant: owner, nodeId })))

test(
  'nodes that receive only changes know the same routes as a computation from all records',
  () => {
    let peersSeen = 0
    fc.assert(
      fc.property(histories, (history) => {
        const records = beginRunning()
        const listener = createListener(records)
        const sessions = new Map<NodeAddress, string>()
        for (const batch of history) {
          const changes = batch.flatMap((step) => step(records))
          listener.apply(changes)
          // A node whose record was deleted has lost its session, even if the same batch creates the record again.
          for (const node of everyNode)
            if (changes.some((change) => isRemovalOf(change, node))) sessions.delete(node)
          const fresh = createDesiredIndex(records.store).routes
          for (const node of everyNode) {
            const expected = expectedRoutes(records, node)
            expect(listener.index.routes.routesFor(node)).toEqual(expected)
            expect(fresh.routesFor(node)).toEqual(expected)
            const address = records.store.get(inTenant(node.tenant, nodes, node.nodeId))?.record.peerAddress
            expect(listener.index.routes.isRouter(node)).toBe(address !== undefined)
            if (address === undefined) {
              sessions.delete(node)
              continue
            }
            // A node advertises a new address only in a new session, which begins with a complete desired set.
            if (sessions.get(node) !== address) listener.restart(node)
            sessions.set(node, address)
            const byName = listener.knows(node).sort((left, right) => (left.name < right.name ? -1 : 1))
            expect(byName).toEqual(expected)
            peersSeen += expected.reduce((sum, { peers }) => sum + peers.length, 0)
          }
        }
      }),
      { numRuns: RUNS },
    )
    expect(peersSeen).toBeGreaterThan(10_000)
  },
  TIMEOUT_MS,
)

test(
  'no tenant is notified about the routes of another one or receives its addresses',
  () => {
    fc.assert(
      fc.property(histories, (history) => {
        const records = beginRunning()
        const listener = createListener(records)
        for (const batch of history) {
          for (const step of batch) {
            listener.notified.length = 0
            const changes = step(records)
            listener.apply(changes)
            const owner = changes[0]?.key.tenant
            expect(listener.notified.every((line) => line.startsWith(String(owner)))).toBe(true)
          }
          for (const node of everyNode)
            for (const { peers } of listener.index.routes.routesFor(node))
              expect(peers.every((peer) => peer.startsWith(String(node.tenant[0])))).toBe(true)
        }
      }),
      { numRuns: RUNS },
    )
  },
  TIMEOUT_MS,
)

describe('one tenant with two nodes', () => {
  const [one, two, three] = NODES as [NodeId, NodeId, NodeId]
  const [web] = UIDS as [DeploymentUid]
  const [first, second] = IDS as [AssignmentId, AssignmentId]
  const at = (nodeId: NodeId, owner = ACME) => ({ tenant: owner, nodeId })
  function start() {
    const records = begin()
    const listener = createListener(records)
    const put = <T>(address: Address<T>, record: T): string[] => {
      listener.notified.length = 0
      listener.apply(records.put(address, record))
      return listener.notified.map((line) => line.split(' ')[1] ?? '')
    }
    for (const [nodeId, address] of [
      [one, '10.0.0.1:81'],
      [two, '10.0.0.2:81'],
    ] as const)
      put(inTenant(ACME, nodes, nodeId), aNode(nodeId, { peerAddress: address }))
    put(inTenant(ACME, nodes, three), aNode(three, {}))
    const peersOf = (nodeId: NodeId) => listener.index.routes.routesFor(at(nodeId))[0]?.peers
    return { records, listener, put, peersOf }
  }
  const placed = (desired: Assignment['desired'] = 'running') =>
    aPlacement(web, [anAssignment(first, one, desired), anAssignment(second, two, 'running')])

  test('a node is a peer while it is ready and has a ready replica that is to run, and is not notified about its own', () => {
    const { put, peersOf } = start()
    expect(put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))).toEqual([
      one,
      two,
    ])
    expect(put(placementAt(ACME, ownerOf('deployment', web)), placed())).toEqual([])
    expect(put(inTenant(ACME, observations, first), anObservation(first, 'starting'))).toEqual([])
    expect(put(inTenant(ACME, observations, first), anObservation(first, 'ready'))).toEqual([two])
    expect([peersOf(one), peersOf(two)]).toEqual([[], ['10.0.0.1:81']])
    expect(put(inTenant(ACME, observations, first), anObservation(first, 'ready', 'unhealthy'))).toEqual([
      two,
    ])
    expect(peersOf(two)).toEqual([])
    put(inTenant(ACME, observations, first), anObservation(first, 'ready'))
    expect(put(inTenant(ACME, nodes, one), aNode(one, { peerAddress: '10.0.0.1:82' }))).toEqual([two])
    expect(peersOf(two)).toEqual(['10.0.0.1:82'])
    const silent = aNode(one, { peerAddress: '10.0.0.1:82', status: 'unreachable' })
    expect(put(inTenant(ACME, nodes, one), silent)).toEqual([two])
    expect(peersOf(two)).toEqual([])
    put(inTenant(ACME, nodes, one), aNode(one, { peerAddress: '10.0.0.1:82' }))
    expect(put(placementAt(ACME, ownerOf('deployment', web)), placed('stopped'))).toEqual([two])
    expect(peersOf(two)).toEqual([])
  })

  test('a node whose engine has failed is no peer, and is notified that its own replicas are lost', () => {
    const { listener, put, peersOf } = start()
    put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))
    put(placementAt(ACME, ownerOf('deployment', web)), placed())
    for (const id of [first, second]) put(inTenant(ACME, observations, id), anObservation(id, 'ready'))
    const lost = () => [one, two].map((nodeId) => listener.index.routes.routeFor(at(nodeId), web)?.lost)
    const fault = { reason: 'engine_silent' as const, since: '2026-01-01T00:00:00.000Z' }
    const node = aNode(one, { peerAddress: '10.0.0.1:81' })
    const silent = { ...node, health: { epoch: 0, faults: [fault] } }
    expect(put(inTenant(ACME, nodes, one), silent)).toEqual([])
    expect([peersOf(two), lost()]).toEqual([['10.0.0.1:81'], [undefined, undefined]])
    const failed = { ...node, health: { epoch: 0, faults: [{ ...fault, failed: true }] } }
    expect(put(inTenant(ACME, nodes, one), failed).toSorted()).toEqual([one, two])
    expect([peersOf(one), peersOf(two), lost()]).toEqual([['10.0.0.2:81'], [], [true, undefined]])
    expect(put(inTenant(ACME, nodes, one), node).toSorted()).toEqual([one, two])
    expect(lost()).toEqual([undefined, undefined])
  })

  test('rewriting a record without changes notifies no node', () => {
    const { put } = start()
    put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))
    put(placementAt(ACME, ownerOf('deployment', web)), placed())
    put(inTenant(ACME, observations, first), anObservation(first, 'ready'))
    expect(put(inTenant(ACME, observations, first), anObservation(first, 'ready'))).toEqual([])
    expect(put(placementAt(ACME, ownerOf('deployment', web)), placed())).toEqual([])
    expect(
      put(inTenant(ACME, nodes, one), aNode(one, { peerAddress: '10.0.0.1:81', labels: { a: 'b' } })),
    ).toEqual([])
    expect(put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))).toEqual([])
  })

  test('an unreadable record leaves the route table as it is and marks it incomplete', () => {
    const { records, listener, put, peersOf } = start()
    put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))
    put(placementAt(ACME, ownerOf('deployment', web)), placed())
    put(inTenant(ACME, observations, first), anObservation(first, 'ready'))
    listener.notified.length = 0
    listener.apply(records.corrupt(inTenant(ACME, deployments, 'web')))
    expect(listener.notified).toEqual([])
    expect(peersOf(two)).toEqual(['10.0.0.1:81'])
    expect([ACME, GLOBEX].map((owner) => listener.index.routes.isComplete(owner))).toEqual([false, true])
    const later = createDesiredIndex(records.store)
    expect(later.routes.isComplete(ACME)).toBe(false)
    put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))
    expect(listener.index.routes.isComplete(ACME)).toBe(true)
  })

  test('a deployment with an unreadable placement is omitted from the routes instead of listed without peers', () => {
    const { records, put } = start()
    put(inTenant(ACME, deployments, 'web'), aDeploymentOf('web', web, ['a.example']))
    records.corrupt(placementAt(ACME, ownerOf('deployment', web)))
    const { routes } = createDesiredIndex(records.store)
    expect(routes.isComplete(ACME)).toBe(false)
    expect(routes.routesFor(at(one))).toEqual([])
    expect(routes.routeFor(at(one), web)).toBeUndefined()
    expect(routes.routeFor(at(one), UIDS[2] as DeploymentUid)).toBeNull()
  })
})
