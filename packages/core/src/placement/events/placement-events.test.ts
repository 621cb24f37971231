// Tests the events of a placement plan: their types, reasons, order and wording.

import type { AssignmentId, DeploymentSpec, NodeGroup } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  aPlacement,
  assigned,
  type ExampleTenant,
  NEW,
  NOW,
  OLD,
  planOf,
  READY,
  STARTING,
} from '../placement.fixture.ts'
import type { PlacementRecord, SeenReplica } from '../snapshot.ts'

const two = [assigned(1, 1), assigned(2, 2)]
const successor = assigned(1, 2, {
  ...NEW,
  id: 'rep_new' as AssignmentId,
  assignedAt: '2026-01-01T00:09:50.000Z',
})
const rolloutOf = (changes: object = {}): NonNullable<PlacementRecord['rollout']> => ({
  ...NEW,
  since: 2,
  startedAt: '2026-01-01T00:09:40.000Z',
  progressedAt: '2026-01-01T00:09:40.000Z',
  state: 'progressing',
  ready: 0,
  replaces: true,
  ...changes,
})
/** Replicas of revision 2, whose watch window is not over: revision 1 is still the last good one. */
const unwatched = [assigned(1, 1, NEW), assigned(2, 2, NEW)]
const LATER = { revision: 3, templateHash: 'later' }
const STOP_FIRST: DeploymentSpec['update'] = {
  order: 'stop-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '60s',
}
const EXITED: SeenReplica = { ...STARTING, state: 'running', reason: 'exited', exitCode: 42 }
/** A deployment whose only replica was placed 20 seconds ago and was never ready. */
function firstPlacement(): PlacementRecord {
  const {
    ranRevision: _,
    lastGood: __,
    ...placement
  } = aPlacement([assigned(1, 1)], {
    rollout: rolloutOf({ ...OLD, since: 1, replaces: false }),
    reportedPhase: 'Progressing',
  })
  return placement
}
const updating = (changes: Partial<ExampleTenant> = {}): ExampleTenant => ({
  nodes: [{}, {}],
  placement: aPlacement([...two, successor], { rollout: rolloutOf() }),
  target: NEW,
  deployment: { revision: 2 },
  seen: { rep_new: STARTING },
  ...changes,
})

interface Row {
  readonly tenant: ExampleTenant
  /** Each expected event as its type and a text that the event's message must contain. */
  readonly events: readonly (readonly [type: string, message: string])[]
}

const ROWS: { readonly [name: string]: Row } = {
  'a first placement names the node of each replica': {
    tenant: { nodes: [{}, {}] },
    events: [
      [
        'deployment.scheduled',
        'Replica 1 of revision 1 is started on node-1. Replica 2 of revision 1 is started on node-2.',
      ],
    ],
  },
  'many replicas are counted instead': {
    tenant: { nodes: Array.from({ length: 7 }, () => ({})), spec: { replicas: 7 } },
    events: [
      [
        'deployment.scheduled',
        '7 replicas are started on node-1, node-2, node-3, node-4, node-5 and 2 more nodes.',
      ],
    ],
  },
  'a deployment that no node accepts is unschedulable': {
    tenant: { nodes: [{ schedulable: false }] },
    events: [['deployment.unschedulable', '0 of 1 ']],
  },
  'a deployment that had replicas is stalled': {
    tenant: {
      nodes: [{ schedulable: false }],
      placement: aPlacement([], { everAssigned: true, reportedPhase: 'Degraded' }),
    },
    events: [['deployment.stalled', '0 of 1 ']],
  },
  'a reached quota has an event of its own': {
    tenant: { nodes: [{}], limit: 0 },
    events: [
      [
        'quota.reached',
        "The tenant's quota of containers is reached: a replica of web cannot be created. Raise the quota, or stop other containers.",
      ],
      ['deployment.unschedulable', ''],
    ],
  },
  'an update reports what changes, and its first successor': {
    tenant: updating({ placement: aPlacement(two), seen: {} }),
    events: [
      [
        'deployment.progressing',
        'Revision 2 replaces revision 1 on 2 replicas. One replica at a time: the old one is removed once the new one is ready. If a replica exits three times, becomes unhealthy or is not ready within 60 s, the update is rolled back.',
      ],
      [
        'deployment.scheduled',
        'Replica 1 of revision 2 is started on node-1; the replica of revision 1 on node-1 serves until it is ready.',
      ],
    ],
  },
  'a stop-first update reports its order': {
    tenant: updating({ placement: aPlacement(two), seen: {}, spec: { update: STOP_FIRST } }),
    events: [
      ['deployment.progressing', 'the old one is stopped before the new one starts.'],
      [
        'deployment.progressing',
        'Replica 1: the replica of revision 1 on node-1 is stopped first. 0 of 2 replicas of revision 2 are ready.',
      ],
    ],
  },
  'a step reports the replica that is ready, and the one that is removed': {
    tenant: updating({ seen: { rep_new: READY } }),
    events: [
      [
        'deployment.progressing',
        'Replica 1 of revision 2 is ready on node-2 after 10.0 s; the replica of revision 1 on node-1 is removed. 1 of 2 replicas of revision 2 is ready.',
      ],
      ['deployment.scheduled', 'Replica 2 of revision 2 is started on '],
    ],
  },
  'a failed update is rolled back, with what to do next': {
    tenant: updating({ seen: { rep_new: { ...EXITED, restarts: 3 } } }),
    events: [
      [
        'deployment.rolled_back',
        'Revision 2 failed after 20.0 s: replica 1 on node-2 exited three times. Cause: exited with code 42. The replicas return to revision 1, the last good one, which still serves. Revision 2 stays stored and is not tried again. Correct the spec and apply it again, or keep revision 1 with `holdfast rollout undo web --to-revision 1`.',
      ],
      ['deployment.progressing', 'Replica 1: the replica of revision 2 on node-2 has failed and is removed.'],
    ],
  },
  'a rollback to a revision without replicas does not claim that it serves': {
    tenant: updating({
      placement: aPlacement([...unwatched, { ...successor, ...LATER }], {
        rollout: rolloutOf({ ...LATER, since: 3 }),
      }),
      target: LATER,
      deployment: { revision: 3 },
      seen: { rep_new: { ...EXITED, restarts: 3 } },
    }),
    events: [
      [
        'deployment.rolled_back',
        'The replicas return to revision 1, the last good one; its containers are created again. Revision 3 stays stored',
      ],
      ['deployment.progressing', 'Replica 1: the replica of revision 3 on node-2 has failed and is removed.'],
      ['deployment.scheduled', 'Replica 1 of revision 1 is started on '],
    ],
  },
  'an update of a revision in its watch window replaces what runs': {
    tenant: updating({
      placement: aPlacement(unwatched, {
        rollout: rolloutOf({ ready: 2, watchedSince: '2026-01-01T00:09:50.000Z' }),
      }),
      target: LATER,
      deployment: { revision: 3 },
      seen: {},
    }),
    events: [
      [
        'deployment.progressing',
        'Revision 3 replaces revision 2 on 2 replicas. The watch window of revision 2 was not over, so a rollback returns to revision 1. One replica at a time',
      ],
      ['deployment.scheduled', 'Replica 1 of revision 3 is started on '],
    ],
  },
  'an update of a revision that has not replaced all replicas abandons its rollout': {
    tenant: updating({ target: LATER, deployment: { revision: 3 } }),
    events: [
      [
        'deployment.progressing',
        'Revision 3 replaces revision 1 on 2 replicas. The rollout of revision 2 is abandoned.',
      ],
      ['deployment.progressing', ''],
      ['deployment.scheduled', 'Replica 1 of revision 3 is started on '],
    ],
  },
  'a failed update without a way back is paused': {
    tenant: updating({
      seen: { rep_new: { ...READY, state: 'running', reason: 'unhealthy', cause: 'wget: not found' } },
      spec: { update: { ...STOP_FIRST, order: 'start-first', failureAction: 'pause' } },
    }),
    events: [
      [
        'deployment.stalled',
        'replica 1 on node-2 became unhealthy: its health check failed. Cause: health check failed: wget: not found. The update is paused with 0 of 2 replicas replaced; the failed container stays for inspection. Inspect it with `holdfast logs web --replica 1`',
      ],
    ],
  },
  'a failed first revision is reported with its cause, and is retried': {
    tenant: {
      nodes: [{}],
      spec: { replicas: 1 },
      placement: firstPlacement(),
      seen: { rep_1: { ...EXITED, restarts: 3 } },
    },
    events: [
      [
        'deployment.failed',
        'Revision 1 failed after 20.0 s: replica 1 on node-1 exited three times. Cause: exited with code 42. There is no earlier revision to return to, so its containers are kept and retried. Inspect it with `holdfast logs web --replica 1`, then apply a corrected spec.',
      ],
    ],
  },
  'a first revision whose container exits is degraded with the cause': {
    tenant: {
      nodes: [{}],
      spec: { replicas: 1 },
      placement: firstPlacement(),
      seen: { rep_1: { ...EXITED, restarts: 1 } },
    },
    events: [['deployment.degraded', '0 of 1 replicas are ready. Replica 1: exited with code 42.']],
  },
  'a lost node reports where its replicas go': {
    tenant: {
      nodes: [{}, { status: 'failed' }],
      dispositions: { 2: 'failed' },
      placement: aPlacement(two, { decided: { number: 1, at: '', reason: '' } }),
    },
    events: [
      [
        'deployment.displaced',
        'Node node-2 is lost: replica 2 is replaced on node-1. Its containers may still run until the node returns and its agent removes them.',
      ],
      [
        'deployment.scheduled',
        'Replica 2 of revision 1 is started on node-1 and replaces the replica of revision 1 on node-2.',
      ],
      ['deployment.degraded', '1 of 2 replicas is ready.'],
    ],
  },
  'a displaced replica reports the label and its successor': {
    tenant: {
      nodes: [{ labels: { disk: 'hdd' } }, { labels: { disk: 'ssd' } }],
      placement: aPlacement([assigned(1, 1)]),
      spec: { replicas: 1, placement: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] } },
    },
    events: [
      ['deployment.displaced', 'Replica 1 gets a successor on node-2.'],
      ['deployment.scheduled', 'Replica 1 of revision 1 is started on node-2; '],
    ],
  },
  'a displaced replica that must not run there is stopped': {
    tenant: {
      nodes: [{ labels: { 'holdfast.io/country': 'FR' } }],
      placement: aPlacement([assigned(1, 1)]),
      spec: { replicas: 1, placement: { residency: { country: 'DE' } } },
    },
    events: [
      ['deployment.displaced', 'Replica 1 must not run there and is stopped: no other node accepts it.'],
      ['deployment.stalled', ''],
      ['deployment.degraded', ''],
    ],
  },
  'a displaced replica that may wait stays': {
    tenant: {
      nodes: [{ labels: { disk: 'hdd' } }],
      placement: aPlacement([assigned(1, 1)]),
      spec: { replicas: 1, placement: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] } },
    },
    events: [
      ['deployment.displaced', 'Replica 1 stays until another node accepts it.'],
      ['deployment.stalled', ''],
    ],
  },
  'an unresolved secret is reported with its cause': {
    tenant: {
      nodes: [{}],
      placement: aPlacement([assigned(1, 1)]),
      spec: { replicas: 1, secrets: [{ name: 'DB', vault_path: 'resources/db' } as never] },
      seen: { rep_1: { ...STARTING, state: 'pending', reason: 'secret_unresolved', about: 'DB: denied' } },
    },
    events: [
      ['deployment.degraded', ''],
      [
        'secret.unresolved',
        'Until it is resolved, no new container is created; running containers keep running.',
      ],
    ],
  },
  'a deployment that is ready again is running': {
    tenant: { nodes: [{}, {}], placement: aPlacement(two, { reportedPhase: 'Degraded' }) },
    events: [['deployment.running', '2 of 2 replicas are ready.']],
  },
  'the end of a rollout reports how long it took': {
    tenant: {
      nodes: [{}, {}],
      placement: aPlacement([assigned(1, 1, NEW), assigned(2, 2, NEW)], {
        rollout: rolloutOf({ ready: 1 }),
        reportedPhase: 'Progressing',
      }),
      target: NEW,
      deployment: { revision: 2 },
    },
    events: [
      ['deployment.progressing', '2 of 2 replicas of revision 2 are ready.'],
      [
        'deployment.running',
        '2 of 2 replicas are ready. Revision 2 was rolled out in 20.0 s. It is watched for another 15 s; if a replica fails in that time, the update is rolled back.',
      ],
    ],
  },
  'a revision that continues a rollout is timed from its own start, and watched for the rest of the window': {
    tenant: {
      nodes: [{}, {}],
      placement: aPlacement([assigned(1, 1, NEW), assigned(2, 2, NEW)], {
        rollout: rolloutOf({
          ...{ revision: 3, ready: 1 },
          continuedAt: '2026-01-01T00:09:57.000Z',
          watchedSince: '2026-01-01T00:09:50.500Z',
        }),
        reportedPhase: 'Progressing',
      }),
      target: { ...NEW, revision: 3 },
      deployment: { revision: 3 },
    },
    events: [
      ['deployment.progressing', '2 of 2 replicas of revision 3 are ready.'],
      ['deployment.running', 'Revision 3 was rolled out in 3.0 s. It is watched for another 6 s;'],
    ],
  },
  'a stopped deployment is stopped': {
    tenant: {
      nodes: [{}],
      placement: aPlacement([], { reportedPhase: 'Progressing' }),
      spec: { replicas: 0 },
    },
    events: [['deployment.stopped', 'The deployment is stopped']],
  },
}

describe('the events of a plan', () => {
  test.each(Object.entries(ROWS))('%s', (_name, { tenant, events }) => {
    const found = planOf(tenant, NOW).events()
    expect(found.map(({ type }) => type)).toEqual(events.map(([type]) => type))
    for (const [index, [, message]] of events.entries()) expect(found[index]?.message).toContain(message)
  })

  test('name their deployment, and are the same each time they are read', () => {
    const plan = planOf({ nodes: [{}] })
    expect(plan.events()).toBe(plan.events())
    for (const { subject } of plan.events())
      expect(subject).toMatchObject({ kind: 'Deployment', name: 'web', uid: plan.deployment.uid })
  })

  test('do not repeat refusals, phases and secrets that were reported', () => {
    const tenant: ExampleTenant = {
      nodes: [{ schedulable: false }],
      seen: {},
      placement: aPlacement([], { lastGood: OLD }),
    }
    const { next } = planOf(tenant)
    const again = planOf({ ...tenant, placement: next ?? aPlacement([]) })
    expect(again.isSettled).toBe(true)
    expect(again.events()).toEqual([])
  })

  test('name groups of nodes, and stay small, if the nodes are too many', () => {
    const nodes = Array.from({ length: 400 }, (_node, at) => ({
      labels: { disk: `disk-${at}` },
      schedulable: at % 2 === 0,
    }))
    const placement = {
      constraints: [{ label: 'disk', operator: 'in' as const, values: ['y'.repeat(200)] }],
    }
    const [event] = planOf({ nodes, spec: { placement } }).events()
    const { candidates, groups, nodes: count } = Object(event?.data)
    expect([candidates, count]).toEqual([undefined, 400])
    expect(groups.map((group: NodeGroup) => [group.count, group.nodes.length])).toEqual([
      [200, 10],
      [200, 10],
    ])
    expect(JSON.stringify(event).length).toBeLessThan(20 * 1024)
  })
})
