// Tests that a deployment with anti-affinity to itself stops a replica before its successor starts, if only the old
// replica prevents the successor.

import { describe, expect, test } from 'vitest'
import {
  aPlacement,
  assigned,
  type ExampleTenant,
  NEW,
  planOf,
  STARTING,
  shown,
} from './placement.fixture.ts'

const two = aPlacement([assigned(1, 1), assigned(2, 2)])
const updating: ExampleTenant = {
  nodes: [{}, {}],
  placement: two,
  spec: { placement: { antiAffinity: ['web'] } },
  target: NEW,
}

interface Row {
  readonly changes: Partial<ExampleTenant>
  readonly kept: readonly string[]
  readonly added?: readonly string[]
  readonly isRefused?: boolean
}

const ROWS: { readonly [name: string]: Row } = {
  'every node has a replica: one is stopped first': {
    changes: {},
    kept: ['1 on node-1 removed', '2 on node-2 running'],
  },
  'a free node accepts the successor: nothing is stopped': {
    changes: { nodes: [{}, {}, {}] },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    added: ['1 on node-3 running'],
  },
  'without anti-affinity the successor starts beside its predecessor': {
    changes: { spec: {} },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    added: ['1 on node-1 running'],
  },
  'a cordoned node would not accept the successor either: nothing is stopped': {
    changes: { nodes: [{ schedulable: false }, { schedulable: false }] },
    kept: ['1 on node-1 running', '2 on node-2 running'],
    isRefused: true,
  },
  'a number without a running replica is waited for': {
    changes: {
      placement: aPlacement([assigned(1, 1, { desired: 'removed' }), assigned(2, 2)]),
      seen: { rep_1: STARTING },
    },
    kept: ['1 on node-1 removed', '2 on node-2 running'],
  },
}

describe('anti-affinity to itself', () => {
  test.each(Object.entries(ROWS))('%s', (_name, { changes, kept, added = [], isRefused = false }) => {
    const plan = planOf({ ...updating, ...changes })
    expect(shown(plan.kept)).toEqual(kept)
    expect(shown(plan.added)).toEqual(added)
    expect(plan.refused !== undefined).toBe(isRefused)
  })
})
