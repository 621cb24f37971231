import { type Assignment, type AssignmentId, type CanaryProgress, defined } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { isCanaryReplica } from '../canary/split-assignments.ts'
import type { Workload } from '../scheduling/index.ts'
import {
  anExample,
  aPlacement,
  aSpec,
  assigned,
  type ExampleTenant,
  NEW,
  NOW,
  READY,
} from './placement.fixture.ts'
import { planPlacement } from './plan-placement.ts'

const CHANGE = { revision: 1, templateHash: 'new' }
const canary = (over: Partial<CanaryProgress> = {}): CanaryProgress => ({
  phase: 'progressing',
  reason: '',
  since: new Date(NOW).toISOString(),
  replicas: 2,
  weight: 10,
  observe: '60s',
  failures: [],
  ...over,
})
const marked = (number: number, node: number, over: Partial<Assignment> = {}): Assignment =>
  assigned(number, node, { ...CHANGE, id: `can_${number}` as AssignmentId, canary: true, ...over })
const STABLE = [assigned(1, 1), assigned(2, 2)]
const NODES = [{}, {}, {}]

/** Plans a deployment with a canary. `state` undefined: the canary was promoted or never started. */
function plan(
  assignments: Assignment[],
  state: CanaryProgress | undefined,
  over: Partial<ExampleTenant> = {},
  change: Partial<Workload> = {},
) {
  const { snapshot, deployment } = anExample({ nodes: NODES, placement: aPlacement(assignments), ...over })
  const workload = { ...snapshot.workload, ...change }
  const source = { workload, target: CHANGE, spec: aSpec(), digest: deployment.digest }
  const isOn = state !== undefined && state.phase !== 'aborted'
  const requests = { ...snapshot.requests, canaryResources: workload.resources }
  return planPlacement(
    isOn ? { ...snapshot, canary: source, requests } : snapshot,
    state === undefined ? deployment : { ...deployment, canary: state },
    NOW,
  )
}
const shown = ({ id, replica, desired, canary: mark = false }: Assignment): string =>
  `${id.slice(0, 5)} ${replica} ${desired}${mark ? ' canary' : ''}`
const assignmentsOf = (planned: ReturnType<typeof plan>) => planned.next?.assignments ?? []

describe('a canary', () => {
  test('gets its replicas beside the others, which stay the same objects', () => {
    const planned = plan(STABLE, canary())
    expect(
      planned.added.map(({ replica, canary: mark, templateHash }) => [replica, mark, templateHash]),
    ).toEqual([
      [1, true, 'new'],
      [2, true, 'new'],
    ])
    expect(new Set(assignmentsOf(planned).map(({ id }) => id)).size).toBe(4)
    expect(assignmentsOf(planned).slice(0, 2)).toEqual(STABLE)
    expect(planned.status).toMatchObject({ phase: 'Running', replicas: { desired: 2, placed: 2, ready: 2 } })
    expect(planned.isSettled).toBe(false)
  })

  test('is observed once its replicas serve, and is planned again at the end of the observation', () => {
    const planned = plan([...STABLE, marked(1, 1), marked(2, 2)], canary())
    expect(planned.canary?.phase).toBe('observing')
    expect(planned.isSettled).toBe(false)
    expect(planned.rollout.replanAt).toBe(NOW + 60_000)
    expect(planned.added).toEqual([])
  })

  test('is settled while nothing changes', () => {
    const state = canary({ phase: 'observing' })
    const first = plan([...STABLE, marked(1, 1), marked(2, 2)], state)
    expect(first.canary).toBe(state)
    expect(assignmentsOf(first)).toHaveLength(4)
    expect(plan([], state, defined({ placement: first.next })).isSettled).toBe(true)
  })

  test('passes its observation with an event', () => {
    const since = new Date(NOW - 60_000).toISOString()
    const planned = plan([...STABLE, marked(1, 1), marked(2, 2)], canary({ phase: 'observing', since }))
    expect(planned.canary?.phase).toBe('ready')
    expect(planned.events().map(({ type }) => type)).toContain('deployment.canary_ready')
  })

  test('is aborted by one exit, with an event that names the replica', () => {
    const seen = { can_2: { ...READY, restarts: 1 } }
    const planned = plan([...STABLE, marked(1, 1), marked(2, 2)], canary({ phase: 'observing' }), { seen })
    expect(planned.canary).toMatchObject({ phase: 'aborted', reason: 'exited', failures: [{ replica: 2 }] })
    const event = planned.events().find(({ type }) => type === 'deployment.canary_aborted')
    expect(event?.message).toContain('its replica 2 on')
    expect(planned.status.phase).toBe('Running')
  })

  test('that is over loses its replicas, and the others stay', () => {
    const planned = plan([...STABLE, marked(1, 1), marked(2, 2)], canary({ phase: 'aborted' }))
    expect(assignmentsOf(planned).map(shown)).toEqual([
      'rep_1 1 running',
      'rep_2 2 running',
      'can_1 1 removed canary',
      'can_2 2 removed canary',
    ])
  })

  test('that was aborted loses its replicas although the deployment has the same template', () => {
    const own = marked(1, 1, { templateHash: 'old' })
    const planned = plan([...STABLE, own], canary({ phase: 'aborted', reason: 'aborted' }))
    expect(assignmentsOf(planned).map(shown)).toEqual([
      'rep_1 1 running',
      'rep_2 2 running',
      'can_1 1 removed canary',
    ])
  })

  test('that a revision with its template supersedes leaves no replica to it', () => {
    const superseded = canary({ phase: 'aborted', reason: 'superseded' })
    const planned = plan([...STABLE, marked(1, 1)], superseded, { target: NEW, deployment: { revision: 2 } })
    expect(assignmentsOf(planned).find(({ id }) => id === 'can_1')).toMatchObject({
      canary: true,
      revision: 1,
    })
    expect(planned.added).not.toEqual([])
  })

  test('that is over is remembered with its mark, so that its kept logs can be found', () => {
    const removed = marked(1, 1, { desired: 'removed' })
    const seen = { can_1: { ...READY, gone: true } }
    const planned = plan([...STABLE, removed], canary({ phase: 'aborted' }), { seen })
    expect(assignmentsOf(planned)).toHaveLength(2)
    expect(planned.next?.formerly).toMatchObject([{ id: 'can_1', replica: 1, canary: true }])
  })

  test('that was promoted leaves its replicas to the deployment, and the old ones leave', () => {
    const planned = plan([...STABLE, marked(1, 1)], undefined, {
      target: NEW,
      deployment: { revision: 2 },
    })
    expect(assignmentsOf(planned).filter(isCanaryReplica)).toEqual([])
    expect(assignmentsOf(planned).find(({ id }) => id === 'can_1')).toMatchObject({
      revision: 2,
      desired: 'running',
    })
    expect(assignmentsOf(planned).find(({ id }) => id === 'rep_1')?.desired).toBe('removed')
    expect(assignmentsOf(planned).find(({ id }) => id === 'rep_2')?.desired).toBe('running')
  })

  test('has its own number of replicas beside that of a scaling policy', () => {
    const planned = plan([assigned(1, 1)], canary(), { deployment: { scaling: { desired: 1 } } })
    expect(planned.added.map(({ replica, canary: mark }) => [replica, mark])).toEqual([
      [1, true],
      [2, true],
    ])
    expect(planned.status.replicas).toMatchObject({ desired: 1, placed: 1, ready: 1 })
  })

  test('that was promoted keeps no more replicas than a scaling policy desires', () => {
    const planned = plan([assigned(1, 1), marked(1, 1), marked(2, 2)], undefined, {
      target: NEW,
      deployment: { revision: 2, scaling: { desired: 1 } },
    })
    const isKept = (wanted: string) =>
      assignmentsOf(planned).some(({ id, desired }) => id === wanted && desired === 'running')
    expect([isKept('can_1'), isKept('can_2')]).toEqual([true, false])
  })

  test('counts for the quota and never takes the room of the others', () => {
    const planned = plan(STABLE, canary(), { limit: 3 })
    expect(planned.added.filter(isCanaryReplica)).toHaveLength(1)
    expect(planned.canary?.reason).toBe('unschedulable')
    const lost = plan([assigned(1, 1), marked(1, 2), marked(2, 3)], canary({ phase: 'observing' }), {
      limit: 4,
    })
    expect(lost.added.map(({ replica, canary: mark = false }) => [replica, mark])).toEqual([[2, false]])
  })

  test('that finds no node in time is aborted, with every node and its refusals in the event', () => {
    const since = new Date(NOW - 60_000).toISOString()
    const resources = { cpuMillis: 100, memoryBytes: 2 ** 50 }
    const planned = plan(STABLE, canary({ reason: 'unschedulable', since }), {}, { resources })
    expect(planned.canary).toMatchObject({ phase: 'aborted', reason: 'unschedulable' })
    expect(planned.refused).toBeUndefined()
    const event = planned.events().find(({ type }) => type === 'deployment.canary_aborted')
    expect(event?.message).toContain('its replica 1 found no node. 0 of 3 nodes fit: ')
    expect(event?.data).toMatchObject({
      replica: 1,
      summary: planned.canaryRefused?.summary,
      candidates: [{ refusals: [{}] }, { refusals: [{}] }, { refusals: [{}] }],
    })
  })

  test('waits for its own remedies beside those of the deployment', () => {
    const spec = { replicas: 3, resources: { cpuMillis: 100, memoryBytes: 2 ** 50 } }
    const change: Partial<Workload> = {
      resources: { cpuMillis: 100, memoryBytes: 1 },
      placement: { constraints: [{ label: 'ssd', operator: 'exists' }] },
    }
    const ofBoth = plan(STABLE, canary(), { spec }, change).cures
    const ofDeployment = plan(STABLE, undefined, { spec }).cures
    expect(ofDeployment).not.toContain('node_labels')
    expect(ofBoth).toEqual(expect.arrayContaining([...ofDeployment, 'node_labels']))
  })

  test('that requests more than the others is placed beside them as long as it fits', () => {
    const node = { capacity: { cpuMillis: 4_000, memoryBytes: 8 } }
    const own = [1, 2, 3, 4, 5].map((number) => assigned(number, 1))
    const spec = { replicas: 5, resources: { cpuMillis: 100, memoryBytes: 1 } }
    const ofCanary = (memoryBytes: number) =>
      plan(
        own,
        canary({ replicas: 1 }),
        { nodes: [node], spec },
        { resources: { cpuMillis: 100, memoryBytes } },
      )
    expect(ofCanary(3).added).toHaveLength(1)
    expect(ofCanary(4).added).toEqual([])
  })

  test('gets another replica for one on a lost node, and is observed again', () => {
    const planned = plan([...STABLE, marked(1, 1), marked(2, 3)], canary({ phase: 'observing' }), {
      dispositions: { 3: 'failed' },
    })
    expect(planned.added.map(({ replica, canary: mark }) => [replica, mark])).toEqual([[2, true]])
    expect(planned.canary?.phase).toBe('progressing')
  })

  test('that ends at its deadline gets no replica, although a node has just become free', () => {
    const since = new Date(NOW - 60_000).toISOString()
    const planned = plan(STABLE, canary({ since }))
    expect(planned.canary).toMatchObject({ phase: 'aborted', reason: 'progress_deadline' })
    expect(planned.added).toEqual([])
    expect(assignmentsOf(planned)).toEqual(STABLE)
  })

  test('that is ready stays so when all its nodes are lost, and gets other replicas', () => {
    const lost = { dispositions: { 3: 'failed' } } as const
    const planned = plan([...STABLE, marked(1, 3), marked(2, 3)], canary({ phase: 'ready' }), lost)
    expect(planned.canary?.phase).toBe('ready')
    expect(planned.added.map(({ replica, canary: mark }) => [replica, mark])).toEqual([
      [1, true],
      [2, true],
    ])
  })

  test('whose nodes are all lost is promoted as an update, in which the other replicas serve', () => {
    const planned = plan([...STABLE, marked(1, 3), marked(2, 3)], undefined, {
      ...{ dispositions: { 3: 'failed' }, target: NEW, deployment: { revision: 2 } },
    })
    expect(assignmentsOf(planned).slice(0, 2)).toEqual(STABLE)
  })

  test('leaves with its deployment', () => {
    const planned = plan([...STABLE, marked(1, 1)], canary(), { deployment: { deleting: true } })
    const again = assignmentsOf(planned).filter(({ id }) => id !== 'can_1')
    expect(again.every(({ desired }) => desired === 'removed')).toBe(true)
    const next = plan(assignmentsOf(planned), canary(), { deployment: { deleting: true } })
    expect(assignmentsOf(next).every(({ desired }) => desired === 'removed')).toBe(true)
  })
})
