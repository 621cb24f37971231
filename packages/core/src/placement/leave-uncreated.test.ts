// A replica whose node cannot create its container moves to another node, once, and stays where no other node accepts it.

import type { AssignmentId, AvoidedNode } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { AVOIDED_MS } from '../scheduling/index.ts'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import {
  anExample,
  aPlacement,
  aSpec,
  assigned,
  type ExampleTenant,
  NEW,
  NOW,
  planOf,
  READY,
  STARTING,
  shown,
} from './placement.fixture.ts'
import { planPlacement } from './plan-placement.ts'
import type { SeenReplica } from './snapshot.ts'

const CAUSE = 'no space left on device'
/** The report of an agent after the third attempt that failed for a cause of its node. */
const UNABLE: SeenReplica = {
  ...STARTING,
  ...{ reason: 'create_failed', restarts: 3, nodeFailures: 3, cause: CAUSE },
}
const three: ExampleTenant['nodes'] = [{}, {}, {}]
const unable = (changes: Partial<ExampleTenant> = {}): ExampleTenant => ({
  nodes: three,
  placement: aPlacement([assigned(1, 1), assigned(2, 2)]),
  seen: { rep_2: UNABLE },
  ...changes,
})
const avoidedAt = (node: number, endsInMs: number): AvoidedNode => ({
  nodeId: nodeIdOf(node),
  until: new Date(NOW + endsInMs).toISOString(),
  cause: CAUSE,
})
const displacedBy = (plan: ReturnType<typeof planOf>) =>
  plan.events().filter(({ reason }) => reason === 'creation_failed')

describe('a replica whose container its node could not create in three attempts', () => {
  test('is created on another node, and its node is avoided for ten minutes', () => {
    const plan = planOf(unable())
    expect(shown(plan.kept)).toEqual(['1 on node-1 running', '2 on node-2 removed'])
    expect(shown(plan.added)).toEqual(['2 on node-3 running'])
    const cause = `cannot create the container: ${CAUSE}`
    const { until } = avoidedAt(2, AVOIDED_MS)
    expect(plan.next?.avoided).toEqual([{ ...avoidedAt(2, AVOIDED_MS), cause }])
    expect(plan.next?.lastGood).toBeDefined()
    expect(displacedBy(plan)).toMatchObject([
      {
        type: 'deployment.displaced',
        message: `Node node-2 could not create a container in three attempts (${cause}): replica 2 is created on node-3. The node gets no further replica of the deployment until ${until}, or until one serves that it has created since.`,
        data: { nodeName: 'node-2', cause, until, replicas: [{ replica: 2, to: 'node-3' }] },
      },
    ])
  })

  test.each<[string, Partial<SeenReplica>]>([
    ['only twice', { nodeFailures: 2 }],
    ['for a cause of the container', { nodeFailures: 0 }],
    ['and that serves by now', READY],
  ])('not if it failed %s', (_what, seen) => {
    const plan = planOf(unable({ seen: { rep_2: { ...UNABLE, ...seen } } }))
    expect(shown(plan.kept)).toEqual(['1 on node-1 running', '2 on node-2 running'])
    expect(plan).toMatchObject({ added: [] })
    expect(plan.next?.avoided).toBeUndefined()
  })

  test('does not make an update fail, which continues on the other node', () => {
    const rollout = {
      ...NEW,
      ...{ since: 2, startedAt: '2026-01-01T00:09:50.000Z', progressedAt: '2026-01-01T00:09:50.000Z' },
      ...{ state: 'progressing' as const, ready: 0, replaces: true },
    }
    const successor = { id: 'rep_n1' as AssignmentId, ...NEW }
    const placement = aPlacement([assigned(1, 1), assigned(2, 2), assigned(1, 3, successor)], { rollout })
    const plan = planOf(unable({ target: NEW, placement, seen: { rep_n1: UNABLE } }))
    expect(plan.next?.rollout).toMatchObject({ state: 'progressing' })
    expect(plan.next?.rollout?.failure).toBeUndefined()
    expect(shown(plan.kept)).toContain('1 on node-3 removed')
    expect(plan.added).toMatchObject([{ replica: 1, ...NEW }])
    expect(plan.added[0]?.nodeId).not.toBe(nodeIdOf(3))
  })

  test('fails an update as before if no other node accepts it', () => {
    const rollout = {
      ...NEW,
      ...{ since: 2, startedAt: '2026-01-01T00:09:50.000Z', progressedAt: '2026-01-01T00:09:50.000Z' },
      ...{ state: 'progressing' as const, ready: 0, replaces: true },
    }
    const placement = aPlacement([assigned(1, 1), assigned(1, 1, { id: 'rep_n1' as AssignmentId, ...NEW })], {
      rollout,
    })
    const spec = { replicas: 1 }
    const plan = planOf({ nodes: [{}], spec, target: NEW, placement, seen: { rep_n1: UNABLE } })
    expect(plan.next?.rollout).toMatchObject({
      state: 'rolling_back',
      failure: { reason: 'create_failed', cause: `cannot create the container: ${CAUSE}` },
    })
  })

  test.each<[string, Partial<ExampleTenant>, string]>([
    ['named by nodeId', { spec: { nodeId: nodeIdOf(2) } }, 'named_node'],
    [
      'of the primary of its volume',
      {
        spec: {
          replicas: 2,
          volumes: [{ volume: 'vol_a' as never, target: '/data', type: 'volume', readOnly: false }],
          update: { ...aSpec().update, order: 'stop-first' },
        },
        volumes: {
          vol_a: {
            ...{ class: 'replicated', phase: 'Ready', sizeBytes: 1, replicas: [], isAnchored: () => false },
            primary: { nodeId: nodeIdOf(2), epoch: 1 },
          },
        },
        placement: aPlacement([assigned(1, 2), assigned(2, 2)]),
      },
      'volume_primary',
    ],
  ])('stays on the node %s, which is explained', (_what, changes, filter) => {
    const plan = planOf(unable(changes))
    expect(plan.added).toEqual([])
    expect(plan.kept.every(({ desired }) => desired === 'running')).toBe(true)
    const refusals = plan.refused?.candidates.map(({ refusals: all }) => all.map((each) => each.filter))
    expect(refusals?.[1]).toContain('creation')
    expect(refusals?.[0]).toContain(filter)
    expect(plan.refused?.summary).toContain('could not create the container')
  })

  test('is tried on the other nodes in turn, and stays on the last one until the first is tried again', () => {
    const avoided = [avoidedAt(1, 60_000), avoidedAt(3, 120_000)]
    const placement = aPlacement([assigned(1, 2)], { avoided })
    const plan = planOf({ nodes: three, spec: { replicas: 1 }, placement, seen: { rep_1: UNABLE } })
    expect(shown(plan.kept)).toEqual(['1 on node-2 running'])
    expect(plan.added).toEqual([])
    expect(plan.rollout.replanAt).toBe(NOW + 60_000)
    expect(plan.next?.avoided?.map(({ nodeId }) => nodeId)).toEqual([1, 3, 2].map(nodeIdOf))
    const later = { ...placement, avoided: plan.next?.avoided ?? [] }
    const { snapshot, deployment } = anExample({
      ...{ nodes: three, spec: { replicas: 1 }, placement: later, seen: { rep_1: UNABLE } },
    })
    const again = planPlacement(snapshot, deployment, NOW + 60_000)
    expect(shown(again.added)).toEqual(['1 on node-1 running'])
  })
})

describe('a node that is avoided', () => {
  test('gets no further replica, keeps those that run, and accepts again after its time', () => {
    const placement = aPlacement([assigned(1, 1)], { avoided: [avoidedAt(2, 1)] })
    const tenant: ExampleTenant = { nodes: [{}, {}], spec: { replicas: 2 }, placement }
    expect(shown(planOf(tenant).added)).toEqual(['2 on node-1 running'])
    expect(shown(planOf(tenant, NOW + 1).added)).toEqual(['2 on node-2 running'])
    const own = { ...placement, avoided: [avoidedAt(1, 1)] }
    expect(planOf({ ...tenant, placement: own }).kept[0]?.desired).toBe('running')
  })

  test('accepts again once a replica that was started after its failures serves there', () => {
    const avoided = [avoidedAt(2, AVOIDED_MS - 60_000)]
    const placement = aPlacement([assigned(1, 1), assigned(2, 2)], { avoided })
    const startedAt = (ms: number) => new Date(NOW + ms).toISOString()
    const avoidedAfter = (ms: number) =>
      planOf({
        nodes: [{}, {}],
        placement,
        seen: { rep_2: { ...READY, startedAt: startedAt(ms) } },
      }).next?.avoided
    expect(avoidedAfter(-60_001)).toBe(avoided)
    expect(avoidedAfter(-59_999)).toEqual([])
  })

  test('is not avoided for longer than ten minutes because a clock was set back', () => {
    const placement = aPlacement([assigned(1, 1)], { avoided: [avoidedAt(2, AVOIDED_MS + 1)] })
    expect(shown(planOf({ nodes: [{}, {}], placement }).added)).toEqual(['2 on node-2 running'])
  })

  test('is written once, and equal decisions change nothing', () => {
    const plan = planOf(unable({ spec: { nodeId: nodeIdOf(2) } }))
    expect(plan.isSettled).toBe(false)
    const placement = plan.next
    expect(placement).toBeDefined()
    if (placement === undefined) return
    const again = planOf(unable({ spec: { nodeId: nodeIdOf(2) }, placement }))
    expect(again.next?.avoided).toBe(placement.avoided)
    expect(again.isSettled).toBe(true)
  })
})
