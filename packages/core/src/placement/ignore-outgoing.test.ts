// Tests that outgoing replicas, which are about to be replaced, keep their capacity but do not influence spread.

import { describe, expect, test } from 'vitest'
import { aWorkload } from '../scheduling/scheduling.fixture.ts'
import { outgoingReplicas } from './ignore-outgoing.ts'
import { aPlacement, assigned, NEW, planOf, shown } from './placement.fixture.ts'

const three = [assigned(1, 1), assigned(2, 2), assigned(3, 3)]
const missing = [{ replica: 2, ...NEW }]

describe('outgoing replicas', () => {
  test.each([
    ['are those whose successor is missing', undefined, three, [2]],
    [
      'include those that are being removed',
      undefined,
      [assigned(1, 1, { desired: 'removed' }), three[2]],
      [1],
    ],
    ['are none with anti-affinity to itself', { antiAffinity: ['web'] }, three, []],
    ['are none with affinity to itself', { affinity: ['web'] }, three, []],
    ['are found with anti-affinity to others', { antiAffinity: ['db'] }, three, [2]],
  ] as const)('%s', (_name, placement, kept, expected) => {
    const workload = aWorkload({ placement: placement && ({ ...structuredClone(placement) } as never) })
    const found = outgoingReplicas(
      workload,
      kept.flatMap((each) => each ?? []),
      missing,
    )
    expect(found.map(({ replica }) => replica)).toEqual(expected)
  })

  test('an update of three replicas on three nodes ends on three nodes', () => {
    const update = {
      order: 'start-first',
      parallelism: 3,
      failureAction: 'pause',
      progressDeadline: '60s',
    } as const
    const plan = planOf({
      nodes: [{}, {}, {}],
      placement: aPlacement(three),
      spec: { replicas: 3, update },
      target: NEW,
    })
    expect(new Set(plan.added.map(({ nodeId }) => nodeId)).size).toBe(3)
    expect(shown(plan.kept)).toEqual(shown(three))
  })
})
