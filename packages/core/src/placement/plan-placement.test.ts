// Tests one decision about one deployment: which replicas stay, leave and are added, on which nodes, and which placement
// record follows.

import type { AssignmentId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { aNode, nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import {
  anExample,
  aPlacement,
  aSpec,
  assigned,
  type ExampleTenant,
  NEW,
  planOf,
  READY,
  STARTING,
  shown,
} from './placement.fixture.ts'
import { planPlacement } from './plan-placement.ts'

const two = aPlacement([assigned(1, 1), assigned(2, 2)], { decided: { number: 1, at: '', reason: '' } })

const UPDATE = aSpec().update
const STOP_FIRST = { replicas: 1, update: { ...UPDATE, order: 'stop-first' as const } }
const onControlPlane: ExampleTenant = {
  nodes: [{ controlPlane: true }],
  placement: aPlacement([assigned(1, 1)]),
  spec: { replicas: 1 },
}

interface Row {
  readonly tenant: ExampleTenant
  readonly kept?: readonly string[]
  readonly added?: readonly string[]
  readonly phase: string
  readonly refused?: boolean
}

const ROWS: { readonly [name: string]: Row } = {
  'a new deployment is spread over the nodes': {
    tenant: { nodes: [{}, {}] },
    added: ['1 on node-1 running', '2 on node-2 running'],
    phase: 'Progressing',
  },
  'a settled deployment stays as it is': {
    tenant: { nodes: [{}, {}], placement: two },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    phase: 'Running',
  },
  'without a ready node nothing is placed': {
    tenant: { nodes: [{ status: 'unreachable' }, { schedulable: false }] },
    phase: 'Pending',
    refused: true,
  },
  'a surplus replica is removed': {
    tenant: { nodes: [{}, {}], placement: two, spec: { replicas: 1 } },
    kept: ['1 on node-1 running', '2 on node-2 removed'],
    phase: 'Running',
  },
  'an update starts one successor beside its predecessor': {
    tenant: { nodes: [{}, {}], placement: two, target: NEW, deployment: { revision: 2 } },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    added: ['1 on node-1 running'],
    phase: 'Progressing',
  },
  'a replica of a lost node is replaced on another one': {
    tenant: { nodes: [{}, { status: 'failed' }], dispositions: { 2: 'failed' }, placement: two },
    kept: ['1 on node-1 running', '2 on node-2 removed'],
    added: ['2 on node-1 running'],
    phase: 'Degraded',
  },
  'a replica of a draining node gets a successor before it goes': {
    tenant: { nodes: [{}, { schedulable: false }], dispositions: { 2: 'leaving' }, placement: two },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    added: ['2 on node-1 running'],
    phase: 'Running',
  },
  'an update recreates a replica on the control-plane node that it is on': {
    tenant: { ...onControlPlane, target: NEW, deployment: { revision: 2 } },
    kept: ['1 on node-1 running'],
    added: ['1 on node-1 running'],
    phase: 'Progressing',
  },
  'an update that stops first also stops a replica on a control-plane node, which may return': {
    tenant: { ...onControlPlane, spec: STOP_FIRST, target: NEW, deployment: { revision: 2 } },
    kept: ['1 on node-1 removed'],
    phase: 'Progressing',
  },
  'a stopped replica returns to its control-plane node': {
    tenant: {
      ...onControlPlane,
      placement: aPlacement([assigned(1, 1, { desired: 'removed' })]),
      seen: { rep_1: { ...READY, state: 'stopped', gone: true } },
      spec: STOP_FIRST,
      target: NEW,
      deployment: { revision: 2 },
    },
    added: ['1 on node-1 running'],
    phase: 'Progressing',
  },
  'one more replica is not placed on a control-plane node': {
    tenant: { ...onControlPlane, spec: { replicas: 2 } },
    kept: ['1 on node-1 running'],
    phase: 'Degraded',
    refused: true,
  },
  'only the replica that was there returns to a control-plane node': {
    tenant: {
      ...onControlPlane,
      spec: { replicas: 3, update: { ...UPDATE, parallelism: 2 } },
      placement: aPlacement([assigned(2, 1)]),
      target: NEW,
      deployment: { revision: 2 },
    },
    kept: ['2 on node-1 running'],
    added: ['2 on node-1 running'],
    phase: 'Degraded',
    refused: true,
  },
  'a deleted deployment stops all of its replicas': {
    tenant: { nodes: [{}, {}], placement: two, deployment: { deleting: true } },
    kept: ['1 on node-1 removed', '2 on node-2 removed'],
    phase: 'Deleting',
  },
  'an unmet dependency holds back new replicas': {
    tenant: { nodes: [{}], spec: { dependsOn: { db: 'healthy' } } },
    phase: 'Waiting',
  },
}

describe('a placement plan', () => {
  test.each(Object.entries(ROWS))(
    '%s',
    (_name, { tenant, kept = [], added = [], phase, refused = false }) => {
      const plan = planOf(tenant)
      expect(shown(plan.kept)).toEqual(kept)
      expect(shown(plan.added)).toEqual(added)
      expect(plan.status.phase).toBe(phase)
      expect(plan.refused !== undefined).toBe(refused)
    },
  )

  test('leaves the scheduling view as it was', () => {
    const { snapshot, deployment } = anExample({ nodes: [{}, {}, {}], placement: two, target: NEW })
    const probe = () => snapshot.scheduling.place(snapshot.workload, 5)
    const before = probe()
    planPlacement(snapshot, deployment, 0)
    expect(probe()).toEqual(before)
  })

  test('is the same for the same snapshot, and gives the same ids', () => {
    const tenant: ExampleTenant = { nodes: [{}, {}] }
    expect(planOf(tenant).next).toEqual(planOf(tenant).next)
    const ids = planOf(tenant).added.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^rep_[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  test('reserves the capacity of dropped assignments until the store has forgotten them', () => {
    const gone = { rep_2: { ...READY, state: 'stopped' as const, gone: true } }
    const plan = planOf({ nodes: [{}, {}], placement: two, seen: gone, spec: { replicas: 1 } })
    expect(shown(plan.rollout.dropped)).toEqual(['2 on node-2 running'])
    expect(plan.reserved.map(({ id }) => id)).toEqual(['rep_1', 'rep_2'])
  })

  test('remembers the newest assignments that left within an hour, to find the logs of their containers', () => {
    const gone = { rep_2: { ...READY, state: 'stopped' as const, gone: true } }
    const former = (number: number, leftAt: string) => ({
      id: `rep_former_${number}` as AssignmentId,
      replica: number,
      nodeId: nodeIdOf(1),
      revision: 1,
      leftAt,
    })
    const recent = Array.from({ length: 16 }, (_, index) => former(index, '2026-01-01T00:00:00.000Z'))
    const planWith = (formerly: typeof recent, seen = {}) =>
      planOf({ nodes: [{}, {}], placement: { ...two, formerly }, seen, spec: { replicas: 1 } }).next?.formerly
    const left = {
      id: 'rep_2',
      replica: 2,
      nodeId: nodeIdOf(2),
      revision: 1,
      leftAt: '2026-01-01T00:10:00.000Z',
    }
    expect(planWith([former(0, '2025-12-31T23:00:00.000Z')], gone)).toEqual([left])
    expect(planWith(recent, gone)).toEqual([...recent.slice(1), left])
    // The list is never written only to shorten it.
    const old = [former(0, '2025-01-01T00:00:00.000Z')]
    expect(planWith(old)).toBe(old)
  })

  test('compares the chosen nodes, and the observations of a number of which it stops one', () => {
    const created = planOf({ nodes: [{}, {}] })
    expect([...created.nodesToCompare]).toEqual([nodeIdOf(1), nodeIdOf(2)])
    const successor = assigned(1, 2, { ...NEW, id: 'rep_new' as AssignmentId })
    const replaced = planOf({
      nodes: [{}, {}],
      placement: aPlacement([assigned(1, 1), successor]),
      spec: { replicas: 1 },
      target: NEW,
    })
    expect(shown(replaced.kept)).toEqual(['1 on node-1 removed', '1 on node-2 running'])
    expect(replaced.observationsToCompare).toEqual(['rep_1', 'rep_new'])
  })

  test('compares the draining node of a replica that gets a successor, because the drain may be cancelled', () => {
    const draining = { nodes: [{}, { schedulable: false }], dispositions: { 2: 'leaving' } as const }
    const moved = planOf({ ...draining, placement: two })
    expect(shown(moved.added)).toEqual(['2 on node-1 running'])
    expect([...moved.nodesToCompare]).toEqual([nodeIdOf(1), nodeIdOf(2)])
    // An update replaces the replica whatever the state of its node.
    const only = aPlacement([assigned(1, 2)])
    const updated = planOf({ ...draining, placement: only, spec: { replicas: 1 }, target: NEW })
    expect(shown(updated.added)).toEqual(['1 on node-1 running'])
    expect([...updated.nodesToCompare]).toEqual([nodeIdOf(1)])
  })

  test.each(['leaving', 'failed'] as const)(
    'compares few enough nodes if 80 replicas are on %s nodes',
    (each) => {
      const count = 80
      const former = Array.from({ length: count }, (_, index) => index + 1)
      const plan = planOf({
        nodes: [...former.map(() => ({ schedulable: false })), ...former.map(() => ({}))],
        dispositions: Object.fromEntries(former.map((node) => [node, each])),
        placement: aPlacement(former.map((node) => assigned(node, node))),
        spec: { replicas: count, update: { ...aSpec().update, parallelism: count } },
        limit: 2 * count,
      })
      expect(plan.added.length).toBeGreaterThan(25)
      expect(plan.nodesToCompare.size).toBe(2 * plan.added.length)
      expect(plan.nodesToCompare.size + plan.observationsToCompare.length).toBeLessThanOrEqual(110)
    },
  )

  test('explains a refusal with every node, and names the changes that are worth a retry', () => {
    const plan = planOf({ nodes: [{ status: 'unreachable' }, aNode(2, { schedulable: false })] })
    const codes = plan.refused?.candidates.map(({ refusals }) => refusals.map(({ filter }) => filter))
    expect(codes).toEqual([['readiness'], ['cordon']])
    expect(plan.cures).toEqual(['node_enrolled', 'node_status', 'node_schedulable'])
  })

  const HEALTH_CHECK = { type: 'exec', command: ['true'], interval: '10s', startPeriod: '0s' }
  const LACKING = { agent: { version: '0.0.9', capabilities: [] } }

  test('keeps a replica on a node whose agent was downgraded, and starts no other there', () => {
    const spec = { healthCheck: HEALTH_CHECK }
    const kept = planOf({ nodes: [LACKING, LACKING], placement: two, spec })
    expect([kept.isSettled, kept.refused]).toEqual([true, undefined])
    const scaled = planOf({ nodes: [LACKING, {}], placement: two, spec: { ...spec, replicas: 4 } })
    expect(shown(scaled.added)).toEqual(['3 on node-2 running', '4 on node-2 running'])
    const updated = planOf({ nodes: [LACKING, LACKING], placement: two, spec, target: NEW })
    expect(shown(updated.kept)).toEqual(['1 on node-1 running', '2 on node-2 running'])
    expect([updated.added, updated.cures]).toEqual([[], ['node_enrolled', 'node_agent', 'deployment']])
  })

  test('a rollback needs the capabilities of the last good revision, not those of the spec', () => {
    const template = { name: 'web', image: 'i', environment: {}, labels: {}, stopGracePeriod: '10s' }
    const plan = (healthCheck: typeof HEALTH_CHECK | undefined) =>
      planOf({
        nodes: [LACKING, { ...LACKING, status: 'unreachable' }],
        placement: aPlacement([], {
          templates: { old: healthCheck === undefined ? template : { ...template, healthCheck } },
          rollout: {
            ...NEW,
            since: 2,
            startedAt: '2026-01-01T00:00:00.000Z',
            progressedAt: '2026-01-01T00:00:00.000Z',
            ready: 0,
            state: 'rolling_back',
            replaces: true,
            failure: { reason: 'unhealthy', replica: 1, at: '2026-01-01T00:00:00.000Z' },
          },
        }),
        spec: { replicas: 1, ...(healthCheck === undefined ? { healthCheck: HEALTH_CHECK } : {}) },
        deployment: { revision: 2 },
        target: NEW,
      })
    expect(shown(plan(undefined).added)).toEqual(['1 on node-1 running'])
    const refused = plan(HEALTH_CHECK)
    expect(refused.added).toEqual([])
    expect(refused.refused?.candidates[0]?.refusals.map(({ filter }) => filter)).toEqual(['agent_version'])
  })

  test('waits for a successor that is starting', () => {
    const successor = assigned(1, 2, { ...NEW, id: 'rep_new' as AssignmentId })
    const plan = planOf({
      nodes: [{}, {}],
      placement: aPlacement([assigned(1, 1), successor]),
      seen: { rep_new: STARTING },
      spec: { replicas: 1 },
      target: NEW,
    })
    expect(shown(plan.kept)).toEqual(['1 on node-1 running', '1 on node-2 running'])
  })
})
