// Tests that a serving replica is stopped before its successor starts only if some node will accept the successor then.

import type { AssignmentId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  aPlacement,
  assigned,
  type ExampleTenant,
  NEW,
  planOf,
  READY,
  STARTING,
  shown,
} from './placement.fixture.ts'

const STOP_FIRST = {
  order: 'stop-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '60s',
} as const
const updating: ExampleTenant = {
  nodes: [{}],
  placement: aPlacement([assigned(1, 1)]),
  spec: { replicas: 1, update: STOP_FIRST },
  target: NEW,
}

interface Row {
  readonly changes: Partial<ExampleTenant>
  readonly kept: readonly string[]
  /** Whether the explanation names the nodes that refuse the successor. */
  readonly isRefused: boolean
}

const ROWS: { readonly [name: string]: Row } = {
  'stop-first stops a replica whose node accepts the successor': {
    changes: {},
    kept: ['1 on node-1 removed'],
    isRefused: false,
  },
  'a cordoned node keeps its serving replica': {
    changes: { nodes: [{ schedulable: false }] },
    kept: ['1 on node-1 running'],
    isRefused: true,
  },
  'a node whose agent is too old for the successor keeps its serving replica': {
    changes: {
      nodes: [{ agent: { version: '0.0.9', capabilities: [] } }],
      spec: { replicas: 1, update: STOP_FIRST, limits: { cpuMillis: 100 } },
    },
    kept: ['1 on node-1 running'],
    isRefused: true,
  },
  'another node that accepts the successor is enough': {
    changes: { nodes: [{ schedulable: false }, {}] },
    kept: ['1 on node-1 removed'],
    isRefused: false,
  },
  'a replica that does not serve is stopped whatever its node accepts': {
    changes: {
      nodes: [{ schedulable: false }],
      seen: { rep_1: { ...STARTING, restarts: 3 } },
      placement: aPlacement([assigned(1, 1)], { lastGood: NEW }),
    },
    kept: ['1 on node-1 removed'],
    isRefused: false,
  },
  'a surplus replica is stopped although no node accepts another': {
    changes: { nodes: [{ schedulable: false }], spec: { replicas: 0, update: STOP_FIRST } },
    kept: ['1 on node-1 removed'],
    isRefused: false,
  },
}

describe('a serving replica', () => {
  test.each(Object.entries(ROWS))('%s', (_name, { changes, kept, isRefused }) => {
    const plan = planOf({ ...updating, ...changes })
    expect(shown(plan.kept)).toEqual(kept)
    expect(plan.refused !== undefined).toBe(isRefused)
  })

  test('is stopped where another replica of its number runs', () => {
    const successor = assigned(1, 2, { ...NEW, id: 'rep_new' as AssignmentId })
    const plan = planOf({
      ...updating,
      nodes: [{ schedulable: false }, { schedulable: false }],
      placement: aPlacement([assigned(1, 1), successor]),
      seen: { rep_new: READY },
    })
    expect(shown(plan.kept)).toEqual(['1 on node-1 removed', '1 on node-2 running'])
  })

  test('is stopped on a node where residency forbids it, although no other node accepts it', () => {
    const plan = planOf({
      ...updating,
      nodes: [{ labels: { 'holdfast.io/country': 'FR' } }],
      spec: { replicas: 1, placement: { residency: { country: 'DE' } } },
    })
    expect(shown(plan.kept)).toEqual(['1 on node-1 removed'])
  })
})
