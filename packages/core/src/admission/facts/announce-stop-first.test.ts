import type { Assignment, AssignmentId, DeploymentSpec, NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { DesiredReplicas } from '../../rollout/desired-replicas.ts'
import { planReplicas, type ReplicaPlan } from '../../rollout/plan-replicas.ts'
import { announceStopFirst } from './announce-stop-first.ts'

type Update = DeploymentSpec['update']

const update: Update = {
  ...{ order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '60s' },
}
const replicaOf = (
  replica: number,
  templateHash = 'old',
  id = `rep_${templateHash}_${replica}`,
): Assignment => ({
  ...{ id: id as AssignmentId, replica, nodeId: 'node_1' as NodeId, revision: 1, templateHash },
  ...{ desired: 'running', assignedAt: '' },
})
const some = (count: number) => Array.from({ length: count }, (_, index) => replicaOf(index + 1))

interface Case {
  readonly placed: number
  readonly replicas: number
  readonly parallelism: number
  /** Containers that the quota allows beside those of the deployment. */
  readonly free: number
}

const announce = ({ placed, replicas, parallelism, free }: Case, changes: Partial<Update> = {}) =>
  announceStopFirst(
    { spec: { update: { ...update, parallelism, ...changes } }, replicas, templateHash: 'new' },
    { assignments: some(placed), containers: { used: 10, limit: 10 + free } },
  )

describe('stop-first that the containers quota forces', () => {
  const full: Case = { placed: 2, replicas: 2, parallelism: 1, free: 0 }

  test('is announced with the use, the limit and the remedy', () => {
    expect(announce(full)).toEqual([
      {
        code: 'update_order_stop_first',
        field: 'update.order',
        from: 'start-first',
        to: 'stop-first',
        why: 'The tenant uses 10 of 10 containers, so some of 2 old replicas are stopped before a successor starts. To update without this gap, raise the quota of containers or stop other containers first. The stored order is unchanged.',
      },
    ])
    expect(announce({ ...full, placed: 1, replicas: 1 })[0]?.why).toContain('so 1 old replica is stopped')
  })

  test.each([
    ['every successor has room', { ...full, free: 2 }, {}],
    ['one successor at a time has room', { ...full, parallelism: 2, free: 1 }, {}],
    ['the spec says stop-first itself', full, { order: 'stop-first' as const }],
    ['no replica runs', { ...full, placed: 0 }, {}],
    ['the write stops the deployment', { ...full, replicas: 0 }, {}],
    ['the quota is exceeded, so that no successor could start', { ...full, free: -1 }, {}],
  ])('is not announced if %s', (_, one, changes) => {
    expect(announce(one, changes)).toEqual([])
  })

  test('is not announced if no replica is recreated', () => {
    const written = { spec: { update }, replicas: 3, templateHash: 'old' }
    const containers = { used: 2, limit: 2 }
    expect(announceStopFirst(written, { assignments: some(2), containers })).toEqual([])
  })

  test('is announced exactly if a rollout of ready replicas stops one first', () => {
    const cases = [0, 1, 2, 3, 4].flatMap((placed) =>
      [0, 1, 2, 3, 4].flatMap((replicas) =>
        [1, 2, 3, 4].flatMap((parallelism) =>
          [-2, -1, 0, 1, 2, 3, 4].map((free): Case => ({ placed, replicas, parallelism, free })),
        ),
      ),
    )
    expect(cases.filter((one) => announce(one).length > 0)).toEqual(cases.filter(stopsFirst))
  })

  test('a promoted canary needs room only for the replicas that it does not replace', () => {
    const containers = { used: 3, limit: 3 }
    const written = { spec: { update }, templateHash: 'new' }
    const canary = { ...replicaOf(1, 'new'), canary: true }
    expect(
      announceStopFirst({ ...written, replicas: 1 }, { assignments: [...some(1), canary], containers }),
    ).toEqual([])
    // The replica that the canary replaces leaves room for the successor of the other one.
    expect(
      announceStopFirst({ ...written, replicas: 2 }, { assignments: [...some(2), canary], containers }),
    ).toEqual([])
  })
})

/** Whether a rollout stops a replica first, if each successor is ready and each stopped replica gone at once. */
function stopsFirst({ placed, replicas, parallelism, free }: Case): boolean {
  const desired: DesiredReplicas = {
    ...{ count: replicas, aim: { revision: 2, templateHash: 'new' }, hold: false, stopFirst: false },
    ...{ stateful: false, parallelism, careful: true, gated: false, goodHash: 'old' },
    ...{ recreatedBefore: 0, failedHash: undefined },
  }
  const room = placed + free
  let assignments = some(placed)
  for (let turn = 0; turn < 40; turn += 1) {
    const plan: ReplicaPlan = planReplicas(desired, assignments, {
      room,
      dispositionOf: () => 'staying',
      seen: (id) => ({
        ...{ state: 'ready', reason: '', restarts: 0 },
        gone: assignments.some((each) => each.id === id && each.desired === 'removed'),
      }),
    })
    if (plan.forcedByQuota.length > 0) return true
    // The filter `quota` refuses a successor that the quota has no room for.
    const fitting = plan.missing.slice(0, Math.max(0, room - plan.kept.length))
    const added = fitting.map(({ replica }) => replicaOf(replica, 'new', `rep_new_${replica}_${turn}`))
    assignments = [...plan.kept, ...added]
  }
  return false
}
