// Tests which changes of labels or demands let a replica stay on its node, and which changes move the replica.

import type { ResidencyDemand } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { NodeFacts, Workload } from './facts.ts'
import { desiredResidency } from './residency.ts'
import { aNode, aWorkload } from './scheduling.fixture.ts'
import { stillQualifies } from './still-qualifies.ts'

const demands = (demand: ResidencyDemand, enforcement = true): Partial<Workload> => ({
  residency: desiredResidency(demand, { enforcement, regions: { eu: ['DE', 'FR'] } }),
})
const onSsd: Partial<Workload> = {
  placement: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] },
}
const inFrance: Partial<NodeFacts> = { labels: { 'holdfast.io/country': 'FR' } }

test.each<[string, Partial<Workload>, Partial<NodeFacts>, string | undefined]>([
  ['nothing demanded', {}, {}, undefined],
  ['the country', demands({ country: 'FR' }), inFrance, undefined],
  ['another country', demands({ country: 'DE' }), inFrance, 'residency_country'],
  ['a label that is gone', demands({ country: 'DE' }), {}, 'residency_country'],
  ['a country of the region', demands({ region: 'eu' }), inFrance, undefined],
  ['another region', demands({ region: 'na' }), inFrance, 'residency_region'],
  ['a blocked country', demands({ blockedCountries: ['FR'] }), inFrance, 'blocked_country'],
  ['a constraint', onSsd, { labels: { disk: 'hdd' } }, 'label_constraint'],
  ['residency before a constraint', { ...onSsd, ...demands({ country: 'DE' }) }, {}, 'residency_country'],
  ['not enforced: nothing is moved for residency', demands({ country: 'DE' }, false), inFrance, undefined],
  [
    'not enforced: constraints still count',
    { ...onSsd, ...demands({ country: 'DE' }, false) },
    {},
    'label_constraint',
  ],
])('%s', (_about, workload, node, filter) => {
  expect(stillQualifies(aWorkload(workload), aNode(1, node))?.filter).toBe(filter)
})

test('what only closes a node for new work moves nothing', () => {
  const closed = aNode(1, {
    status: 'unreachable',
    schedulable: false,
    controlPlane: true,
    claim: 'shared',
    requested: { cpuMillis: 9_000, memoryBytes: 2 ** 40 },
    replicas: new Map([['web', 3]]),
  })
  const workload = aWorkload({
    resources: { cpuMillis: 1, memoryBytes: 1 },
    placement: { antiAffinity: ['web'] },
  })
  expect(stillQualifies(workload, closed)).toBeUndefined()
})
