// Tests decisions about deployments that mount volumes: where they run, when a successor may start, and which claims
// change. A random history of updates, lost nodes and moved primaries never has two writers.

import type { Assignment, AssignmentId, ContainerTemplate, TemplateMount } from '@holdfast/contract'
import { asVolumeId } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import {
  aPlacement,
  assigned,
  type ExampleTenant,
  NEW,
  OLD,
  planOf,
  READY,
  shown,
} from './placement.fixture.ts'
import type { PlacementRecord, SeenReplica, VolumeAt } from './snapshot.ts'

const VOLUME = 'vol_01JCPZ0000000000000000000A'
const pool = { poolBytes: 100, claimedBytes: 0 }
const agent = { version: '0.3.0', capabilities: ['mounts'] }
const node = { pool, agent }
const mount = { volume: VOLUME, target: '/data', type: 'volume' as const, readOnly: false }
const writes: TemplateMount = { ...mount, volume: asVolumeId(VOLUME) }
const update = { parallelism: 1, failureAction: 'rollback' as const, progressDeadline: '60s' }
const spec = { replicas: 1, volumes: [mount], update: { ...update, order: 'stop-first' as const } }

const template = (...mounts: TemplateMount[]): ContainerTemplate => ({
  name: 'web',
  image: 'registry.example/web@sha256:d',
  environment: {},
  labels: {},
  stopGracePeriod: '10s',
  ...(mounts.length === 0 ? {} : { mounts }),
})

const volume = (
  parts: Partial<VolumeAt> & { readonly on?: number; readonly epoch?: number } = {},
): VolumeAt => {
  const { on = 1, epoch = 1, ...rest } = parts
  return {
    class: 'replicated',
    phase: 'Ready',
    sizeBytes: 16,
    primary: { nodeId: nodeIdOf(on), epoch },
    replicas: [],
    isAnchored: () => false,
    ...rest,
  }
}

const placedOn = (nodes: number, parts: Partial<PlacementRecord> = {}) =>
  aPlacement([assigned(1, nodes)], {
    decided: { number: 1, at: '', reason: '' },
    templates: { old: template(writes) },
    ...parts,
  })

interface Row {
  readonly tenant: Partial<ExampleTenant>
  readonly kept?: readonly string[]
  readonly added?: readonly string[]
  readonly refused?: boolean
  readonly released?: readonly string[]
  readonly written?: number
}

const drained = { dispositions: { 1: 'leaving' }, nodes: [{ ...node, schedulable: false }, node] } as const
const current = [{ nodeId: nodeIdOf(2), state: 'current' }]
const gone: SeenReplica = { ...READY, gone: true }
const plain = { ...spec, volumes: [], update: { ...update, order: 'start-first' as const } }
const dropping = { spec: plain, target: NEW, deployment: { revision: 2 } }
const releasing = [{ volume: VOLUME, state: 'releasing' }] as const

const ROWS: { readonly [about: string]: Row } = {
  'a writer is created on the node of the primary': {
    tenant: { volumes: { [VOLUME]: volume({ on: 2 }) } },
    added: ['1 on node-2 running'],
    written: 1,
  },
  'readers run on the node of the primary, all of them': {
    tenant: {
      spec: { replicas: 2, volumes: [{ ...mount, readOnly: true }] },
      volumes: { [VOLUME]: volume({ on: 2 }) },
    },
    added: ['1 on node-2 running', '2 on node-2 running'],
  },
  'a volume in memory needs neither a pool nor a primary': {
    tenant: {
      spec: { ...spec, volumes: [{ ...mount, type: 'tmpfs' }] },
      nodes: [{ agent }],
      volumes: { [VOLUME]: volume({ class: 'ephemeral', primary: null }) },
    },
    added: ['1 on node-1 running'],
    written: 1,
  },
  'without a pool, the node of the primary refuses': {
    tenant: { nodes: [{ agent }, node], volumes: { [VOLUME]: volume() } },
    refused: true,
  },
  'without a claim nothing is created': {
    tenant: { volumes: { [VOLUME]: volume() }, claims: [] },
  },
  'an update stops the writer and creates no successor yet': {
    tenant: {
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1),
      target: NEW,
      deployment: { revision: 2 },
    },
    kept: ['1 on node-1 removed'],
  },
  'a writer that is being removed blocks its successor': {
    tenant: {
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1, { assignments: [assigned(1, 1, { desired: 'removed' })] }),
      target: NEW,
      deployment: { revision: 2 },
    },
    kept: ['1 on node-1 removed'],
  },
  'once its container is gone, the successor is created': {
    tenant: {
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1, { assignments: [assigned(1, 1, { desired: 'removed' })] }),
      seen: { rep_1: gone },
      target: NEW,
      deployment: { revision: 2 },
    },
    kept: [],
    added: ['1 on node-1 running'],
    written: 1,
  },
  'a writer on a lost node is not replaced': {
    tenant: {
      volumes: { [VOLUME]: volume() },
      nodes: [{ ...node, status: 'failed' }, node],
      dispositions: { 1: 'failed' },
      placement: placedOn(1),
    },
    kept: ['1 on node-1 running'],
  },
  'a primary on another node ends the epoch of a writer on a lost node': {
    tenant: {
      volumes: { [VOLUME]: volume({ on: 2, epoch: 2 }) },
      nodes: [{ ...node, status: 'failed' }, node],
      dispositions: { 1: 'failed' },
      placement: placedOn(1),
    },
    kept: ['1 on node-1 removed'],
    added: ['1 on node-2 running'],
    written: 1,
  },
  'a drained writer keeps running without a current copy, and the reason is reported': {
    tenant: { ...drained, volumes: { [VOLUME]: volume() }, placement: placedOn(1) },
    kept: ['1 on node-1 running'],
    refused: true,
  },
  'a drained writer keeps running while the copy lags': {
    tenant: {
      ...drained,
      volumes: { [VOLUME]: volume({ replicas: [{ nodeId: nodeIdOf(2), state: 'lagging' }] }) },
      placement: placedOn(1),
    },
    kept: ['1 on node-1 running'],
    refused: true,
  },
  'a drained writer keeps running while no node with a current copy accepts it': {
    tenant: {
      ...drained,
      nodes: [
        { ...node, schedulable: false },
        { ...node, schedulable: false },
      ],
      volumes: { [VOLUME]: volume({ replicas: current }) },
      placement: placedOn(1),
    },
    kept: ['1 on node-1 running'],
    refused: true,
  },
  'a drained writer stops when its volume can be handed over': {
    tenant: { ...drained, volumes: { [VOLUME]: volume({ replicas: current }) }, placement: placedOn(1) },
    kept: ['1 on node-1 removed'],
  },
  'a drained writer of an ephemeral volume stops': {
    tenant: { ...drained, volumes: { [VOLUME]: volume({ class: 'ephemeral' }) }, placement: placedOn(1) },
    kept: ['1 on node-1 removed'],
  },
  'a drained writer of an anchored ephemeral volume keeps running': {
    tenant: {
      ...drained,
      volumes: { [VOLUME]: volume({ class: 'ephemeral', isAnchored: () => true }) },
      placement: placedOn(1),
    },
    kept: ['1 on node-1 running'],
    refused: true,
  },
  'a dropped mount keeps its claim while the container may exist': {
    tenant: { ...dropping, claims: releasing, volumes: { [VOLUME]: volume() }, placement: placedOn(1) },
    kept: ['1 on node-1 removed'],
  },
  'a dropped mount keeps its claim while the update may be rolled back': {
    tenant: {
      ...dropping,
      claims: releasing,
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1, { assignments: [assigned(1, 1, { desired: 'removed' })] }),
      seen: { rep_1: gone },
    },
    kept: [],
    added: ['1 on node-1 running'],
  },
  'a dropped mount releases its claim when the primary has left the node of the container': {
    tenant: {
      ...dropping,
      claims: releasing,
      spec: { ...dropping.spec, replicas: 0 },
      volumes: { [VOLUME]: volume({ on: 2, epoch: 2 }) },
      nodes: [{ ...node, status: 'unreachable' }, node],
      placement: placedOn(1, { assignments: [assigned(1, 1, { desired: 'removed' })] }),
    },
    kept: ['1 on node-1 removed'],
    released: [VOLUME],
  },
  'a dropped mount of an ephemeral volume keeps its claim until the container is confirmed gone': {
    tenant: {
      ...dropping,
      claims: releasing,
      spec: { ...dropping.spec, replicas: 0 },
      volumes: { [VOLUME]: volume({ class: 'ephemeral', on: 2, epoch: 2 }) },
      nodes: [{ ...node, status: 'unreachable' }, node],
      placement: placedOn(1, { assignments: [assigned(1, 1, { desired: 'removed' })] }),
    },
    kept: ['1 on node-1 removed'],
  },
  'a dropped mount releases its claim when the update has ended': {
    tenant: {
      ...dropping,
      claims: releasing,
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1, {
        assignments: [assigned(1, 1, NEW)],
        lastGood: NEW,
        templates: { new: template() },
      }),
    },
    kept: ['1 on node-1 running'],
    released: [VOLUME],
  },
  'a stopped deployment releases a dropped mount': {
    tenant: {
      ...dropping,
      spec: { ...dropping.spec, replicas: 0 },
      claims: releasing,
      volumes: { [VOLUME]: volume() },
      placement: placedOn(1, { assignments: [] }),
    },
    kept: [],
    released: [VOLUME],
  },
}

describe('consumers of volumes', () => {
  test.each(Object.entries(ROWS))('%s', (_about, row) => {
    const plan = planOf({ spec, nodes: [node, node], ...row.tenant })
    expect(shown(plan.kept)).toEqual(row.kept ?? [])
    expect(shown(plan.added)).toEqual(row.added ?? [])
    expect(plan.refused !== undefined).toBe(row.refused ?? plan.refused !== undefined)
    expect(plan.claims.released).toEqual(row.released ?? [])
    expect(plan.claims.written.map(({ volume: id, id: by }) => [id, by])).toEqual(
      plan.added.slice(0, row.written ?? 0).map(({ id }) => [VOLUME, id]),
    )
  })

  test('the size of a volume in memory is in the template, and its epoch is 0', () => {
    const tmpfs = { ...spec, volumes: [{ ...mount, type: 'tmpfs' as const }] }
    const inMemory = volume({ class: 'ephemeral', primary: null, sizeBytes: 32 })
    const plan = planOf({ spec: tmpfs, nodes: [{ agent }], volumes: { [VOLUME]: inMemory } })
    expect(plan.next?.templates[OLD.templateHash]?.mounts).toMatchObject([{ type: 'tmpfs', sizeBytes: 32 }])
    expect(plan.claims.written).toMatchObject([{ epoch: 0 }])
  })

  test('a rollback does not return to a revision whose volume is released', () => {
    const placement = placedOn(1, { assignments: [] })
    const plan = planOf({ ...dropping, nodes: [node, node], claims: [], placement })
    expect(plan.next?.lastGood).toBeUndefined()
  })
})

type Step = 'plan' | 'update' | 'plain' | 'back' | 'report' | 'fail' | 'return' | 'drain' | 'open' | 'move'
const steps = fc.array(
  fc.constantFrom<Step>(
    ...(['plan', 'plan', 'plan', 'report', 'report', 'update', 'plain', 'back'] as const),
    ...(['fail', 'return', 'drain', 'open', 'move'] as const),
  ),
  { maxLength: 60 },
)

/** Whether the container of an assignment may write to the volume: it exists, and its node holds the primary. */
function writersOf({ templates, assignments }: PlacementRecord, on: number, isGone: ReadonlySet<string>) {
  return assignments.filter(
    ({ id, templateHash, nodeId }: Assignment) =>
      !isGone.has(id) && templates[templateHash]?.mounts !== undefined && nodeId === nodeIdOf(on),
  )
}

test('no history of updates, failures, drains and moved primaries has two writers', () => {
  fc.assert(
    fc.property(steps, (history) => {
      let placement: PlacementRecord | undefined
      let [on, epoch, revision, isPlain] = [1, 1, 1, false]
      const failed = new Set<number>()
      const draining = new Set<number>()
      const isGone = new Set<string>()
      const disposition = (number: number) =>
        failed.has(number) ? 'failed' : draining.has(number) ? 'leaving' : 'staying'
      for (const step of history) {
        if (step === 'fail') failed.add(on)
        else if (step === 'return') failed.clear()
        else if (step === 'drain') draining.add(on)
        else if (step === 'open') draining.clear()
        else if (step === 'update' || step === 'plain' || step === 'back') {
          revision += 1
          isPlain = step === 'plain'
        } else if (step === 'move') {
          on = on === 1 ? 2 : 1
          epoch += 1
        } else if (step === 'report') {
          // Agents confirm removals, unless their node has failed.
          for (const { id, desired, nodeId } of placement?.assignments ?? [])
            if (desired === 'removed' && ![...failed].some((each) => nodeIdOf(each) === nodeId))
              isGone.add(id)
        } else {
          const seen = Object.fromEntries([...isGone].map((id) => [id, gone]))
          const plan = planOf({
            spec: isPlain ? plain : spec,
            claims: [{ volume: VOLUME, state: isPlain ? 'releasing' : 'bound' }],
            nodes: [1, 2].map((number) => ({
              ...node,
              status: failed.has(number) ? ('failed' as const) : ('ready' as const),
              schedulable: !draining.has(number),
            })),
            dispositions: { 1: disposition(1), 2: disposition(2) },
            volumes: {
              [VOLUME]: volume({ on, epoch, replicas: [{ nodeId: nodeIdOf(3 - on), state: 'current' }] }),
            },
            target: { revision, templateHash: isPlain ? 'plain' : `writing ${revision}` },
            deployment: { revision },
            seen,
            ...(placement === undefined ? {} : { placement }),
          })
          placement = plan.next === undefined ? undefined : withFreshIds(plan.next, placement)
          if (placement === undefined) continue
          const writers = writersOf(placement, on, isGone)
          expect(writers.length, JSON.stringify(writers)).toBeLessThanOrEqual(1)
          for (const { nodeId } of plan.added) if (!isPlain) expect(nodeId).toBe(nodeIdOf(on))
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

let serial = 0

/** The example has one placement revision, from which ids follow, so new assignments get ids of their own. */
function withFreshIds(next: PlacementRecord, before: PlacementRecord | undefined): PlacementRecord {
  const known = new Set(before?.assignments.map(({ id }) => id))
  return {
    ...next,
    assignments: next.assignments.map((each) => {
      if (known.has(each.id)) return each
      serial += 1
      return { ...each, id: `rep_new${serial}` as AssignmentId }
    }),
  }
}
