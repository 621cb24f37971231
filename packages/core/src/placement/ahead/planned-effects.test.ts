// Tests the effects of planned decisions: which replicas move, restart and stop, and what is left without a node, a route
// or enough ready replicas.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentUid,
  type NodeId,
  ownerOf,
} from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aSpec } from '../placement.fixture.ts'
import type { PlacementRecord } from '../snapshot.ts'
import { plannedEffects } from './planned-effects.ts'
import { plannedSteps } from './planned-steps.ts'
import type { PlannedDeployment, PlannedTurn } from './replica-courses.ts'

const assignment = (
  replica: number,
  node: string,
  template = 'old',
  id = `${replica}-${node}-${template}`,
): Assignment => ({
  id: id as AssignmentId,
  replica,
  nodeId: node as NodeId,
  revision: 1,
  templateHash: template,
  desired: 'running',
  assignedAt: '2026-01-01T00:00:00.000Z',
})

const placement = (assignments: Assignment[], shortfall?: PlacementRecord['shortfall']): PlacementRecord => ({
  owner: ownerOf('deployment', 'dep_1' as DeploymentUid),
  name: 'web',
  revision: 1,
  everAssigned: true,
  assignments,
  templates: {},
  reportedRefusals: '',
  reportedPhase: 'Running',
  ...(shortfall === undefined ? {} : { shortfall }),
})

const turn = (ready: readonly number[], change: Partial<PlannedTurn> = {}): PlannedTurn => ({
  added: [],
  removed: [],
  dispositions: new Map(),
  ready: new Set(ready),
  waits: undefined,
  canaryWaits: undefined,
  ...change,
})

const added = (each: Assignment) => [{ assignment: each, why: 'it fits' }]

const ROUTE = { host: 'web.example.com', path: '/', port: 80 }
const record = (change: object = {}) => ({
  spec: { ...aSpec({ routes: [ROUTE] }), ...change },
  deleting: false,
  digest: 'sha256:0',
})

const before = [assignment(1, 'n1'), assignment(2, 'n2')]

function planned(turns: readonly PlannedTurn[], change: Partial<PlannedDeployment> = {}): PlannedDeployment {
  const next = change.next ?? record()
  return {
    stored: record(),
    next,
    isWritten: true,
    placementBefore: placement(before),
    placementAfter: placement(before),
    readyBefore: new Set([1, 2]),
    turns,
    isCut: false,
    nodeName: (id) => id,
    ...change,
  }
}

const effectsOf = (...each: Parameters<typeof planned>) => plannedEffects([planned(...each)])

test('a plan without decisions has no effects, and every list is empty', () => {
  expect(effectsOf([])).toEqual({
    moves: [],
    restarts: [],
    stops: [],
    unplaced: [],
    unrouted: [],
    lostData: [],
    lowestReady: [],
    omitted: [],
  })
})

test('a replica with an unchanged container on another node moves', () => {
  const successor = assignment(1, 'n3')
  const dispositions = new Map([['n1' as NodeId, 'leaving' as const]])
  const turns = [
    turn([1, 2], { added: added(successor), dispositions }),
    turn([1, 2], { removed: before.slice(0, 1), dispositions }),
  ]
  const { moves, restarts, lowestReady } = effectsOf(turns, { isWritten: false })
  expect(moves).toEqual([{ deployment: 'web', replica: 1, from: 'n1', to: 'n3', reason: 'node_leaving' }])
  expect(restarts).toEqual([])
  expect(lowestReady).toEqual([
    {
      deployment: 'web',
      ready: 2,
      desired: 2,
      reason: 'Each old replica serves until its successor is ready.',
    },
  ])
})

test('a replica with another container restarts, even on another node', () => {
  const turns = [
    turn([2], { removed: before.slice(0, 1) }),
    turn([2], { added: added(assignment(1, 'n3', 'new')) }),
  ]
  const { moves, restarts, lowestReady } = effectsOf(turns)
  expect(restarts).toEqual([
    { deployment: 'web', replica: 1, from: 'n1', to: 'n3', reason: 'template_changed' },
  ])
  expect(moves).toEqual([])
  expect(lowestReady).toMatchObject([
    { ready: 1, desired: 2, reason: 'An old replica stops before its successor starts.' },
  ])
})

test('a replica that is recreated on its own node restarts, also with an unchanged container', () => {
  const again = assignment(1, 'n1', 'old', 'again')
  const { moves, restarts } = effectsOf([
    turn([1, 2], { added: added(again) }),
    turn([1, 2], { removed: before.slice(0, 1) }),
  ])
  expect([moves, restarts.map(({ from, to }) => [from, to])]).toEqual([[], [['n1', 'n1']]])
})

const CANARY = { ...assignment(1, 'n3', 'new'), canary: true }

test('a replica of a canary that ends stops, and the replica with its number is replaced', () => {
  const turns = [
    turn([1, 2], { removed: [CANARY] }),
    turn([1, 2], { added: added(assignment(1, 'n4', 'next')) }),
    turn([1, 2], { removed: before.slice(0, 1) }),
  ]
  const { stops, restarts } = effectsOf(turns, { placementBefore: placement([...before, CANARY]) })
  expect(stops).toEqual([{ deployment: 'web', replica: 1, canary: true, node: 'n3', reason: 'not_desired' }])
  expect(restarts).toMatchObject([{ replica: 1, from: 'n1', to: 'n4', reason: 'template_changed' }])
  expect(restarts[0]).not.toHaveProperty('canary')
})

test('a replica stops for the replica of a promoted canary with its number', () => {
  const { canary: _mark, ...adopted } = CANARY
  const { stops } = effectsOf([turn([1, 2], { removed: before.slice(0, 1) })], {
    placementBefore: placement([...before, CANARY]),
    placementAfter: placement([adopted, ...before.slice(1)]),
  })
  expect(stops).toMatchObject([{ replica: 1, node: 'n1', reason: 'template_changed' }])
})

test('a replica of a canary is named in its step, and takes no number of the deployment', () => {
  const after = placement([...before.slice(1), CANARY])
  const started = planned([turn([2], { added: added(CANARY) })], { placementAfter: after })
  expect(plannedSteps(started).steps).toMatchObject([
    {
      kind: 'start',
      replicas: [{ replica: 1, canary: true }],
      text: 'Replica 1 of the canary starts on n3 (it fits).',
    },
  ])
  expect(plannedEffects([started]).unplaced).toMatchObject([{ deployment: 'web', replicas: 1 }])
})

test('a restart is named as the reason', () => {
  const turns = [
    turn([2], { removed: before.slice(0, 1) }),
    turn([2], { added: added(assignment(1, 'n1', 'new')) }),
  ]
  const { restarts } = effectsOf(turns, { next: { ...record(), restartRevision: 2 } })
  expect(restarts.map(({ reason }) => reason)).toEqual(['restart'])
})

test('a successor that is stopped again leaves the replica stopped', () => {
  const successor = assignment(1, 'n3', 'new')
  const turns = [
    turn([2], { removed: before.slice(0, 1) }),
    turn([2], { added: added(successor) }),
    turn([2], { removed: [successor] }),
  ]
  const { restarts, stops } = effectsOf(turns)
  expect([restarts, stops.map(({ replica, node }) => [replica, node])]).toEqual([[], [[1, 'n1']]])
})

test('a deleted deployment stops its replicas and loses its routes', () => {
  const next = { ...record(), deleting: true }
  const { stops, unrouted, lowestReady } = effectsOf([turn([], { removed: before })], {
    next,
    placementAfter: undefined,
  })
  expect(stops.map(({ replica, node, reason }) => [replica, node, reason])).toEqual([
    [1, 'n1', 'not_desired'],
    [2, 'n2', 'not_desired'],
  ])
  expect(unrouted).toEqual([
    { deployment: 'web', host: 'web.example.com', path: '/', reason: 'deployment_deleted' },
  ])
  expect(lowestReady).toMatchObject([{ ready: 0, desired: 0 }])
})

test('a route is unrouted if it is removed, or if no replica is ready for a while', () => {
  const { routes: _routes, ...spec } = record().spec
  expect(effectsOf([], { next: { ...record(), spec } }).unrouted).toMatchObject([{ reason: 'route_removed' }])
  expect(effectsOf([turn([]), turn([1, 2])]).unrouted).toMatchObject([{ reason: 'no_ready_replica' }])
  expect(effectsOf([turn([]), turn([1])], { readyBefore: new Set() }).unrouted).toEqual([])
})

test('a written deployment is unplaced with the reason of its shortfall; another one only if it gets worse', () => {
  const shortfall = { reason: 'unschedulable', summary: '0 of 3 nodes fit.' }
  const after = placement(before.slice(0, 1), shortfall)
  expect(effectsOf([], { placementAfter: after }).unplaced).toEqual([
    { deployment: 'web', replicas: 1, reason: '0 of 3 nodes fit.' },
  ])
  const same = { isWritten: false, placementBefore: after, placementAfter: after }
  expect(effectsOf([], same).unplaced).toEqual([])
  expect(effectsOf([], { isWritten: false, placementAfter: after }).unplaced).toHaveLength(1)
  // Every replica has a node, but one of them should leave it.
  expect(effectsOf([], { placementAfter: placement(before, shortfall) }).unplaced).toMatchObject([
    { replicas: 1 },
  ])
})

test('a deployment that the change does not write and that waits as before has no step', () => {
  const turns = [turn([1, 2], { waits: '0 of 2 nodes fit: 1 cordoned.' })]
  expect(plannedSteps(planned(turns)).steps).toMatchObject([{ kind: 'wait' }])
  expect(plannedSteps(planned(turns, { isWritten: false })).steps).toEqual([])
})

test('replicas of an unresolved image are unplaced', () => {
  const next = { ...record(), digest: null }
  const plan = planned([], { stored: undefined, next, placementBefore: undefined, placementAfter: undefined })
  expect(plannedEffects([plan]).unplaced).toMatchObject([
    { replicas: 2, reason: /No registry has resolved the image/ },
  ])
  expect(plannedSteps(plan).steps).toMatchObject([{ deployment: 'web', kind: 'wait' }])
})

test('a plan that ended at its limit names the deployment, whose missing replicas may still get a node', () => {
  const placementAfter = placement(before.slice(0, 1))
  const { omitted, unplaced } = effectsOf([], { isCut: true, placementAfter })
  expect(omitted).toEqual([{ deployment: 'web', reason: expect.stringContaining('limit of decisions') }])
  expect(unplaced).toEqual([])
})
