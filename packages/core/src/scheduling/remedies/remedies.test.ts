// What is said to help, case by case: each text is what a user reads.

import { type Constraint, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { allRefusals, checkCandidates } from '../check-candidates.ts'
import type { DesiredResidency, NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { aNode, aWorkload, someFacts } from '../scheduling.fixture.ts'
import { applyChange } from './apply-changes.ts'
import { cureCandidates, curesFor, cureText } from './find-remedies.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

/** Of `node-1`, among others that may run something. */
function cureOf(
  node: Partial<NodeFacts>,
  workload: Partial<Workload> = {},
  { used = 0, limit = 500, others = [] as NodeFacts[] } = {},
): string | undefined {
  const facts: TenantFacts = someFacts([aNode(1, node), ...others], used, limit)
  const wished = aWorkload(workload)
  const found = cureCandidates(wished, facts)
  const cure = found.find(({ nodeName }) => nodeName === 'node-1')?.cure
  return cure && cureText(cure)
}

const runs = (...names: string[]) => ({ replicas: new Map(names.map((name) => [name, 1])) })
const needs = (cpuMillis: number, memoryBytes: number) => ({ resources: { cpuMillis, memoryBytes } })
const busy = (cpuMillis: number, memoryBytes: number) => ({ requested: { cpuMillis, memoryBytes } })
const placement = (block: Workload['placement']) => ({ placement: block })

test.each<[string, Partial<NodeFacts>, string | undefined]>([
  ['a node that accepts', {}, undefined],
  ['a cordoned one', { schedulable: false }, 'Uncordon node-1.'],
  ['one that never connected', { status: 'pending' }, 'Start the agent on node-1.'],
  ['a silent one, cordoned', { status: 'failed', schedulable: false }, 'Bring node-1 back. Uncordon node-1.'],
  ['one of the control plane', { controlPlane: true, schedulable: false }, undefined],
  ['one that another tenant claims', { claim: 'shared', schedulable: false }, undefined],
  ['one that is being released', { claim: 'releasing' }, undefined],
])('%s', (_about, node, cure) => expect(cureOf(node)).toBe(cure))

describe('amounts', () => {
  test.each<[string, Partial<NodeFacts>, Partial<Workload>, string | undefined]>([
    ['fits exactly', busy(3500, 0), needs(500, 0), undefined],
    ['CPU', busy(3700, 0), needs(500, 0), 'Free 200 millicores on node-1.'],
    ['whole MiB', busy(0, 8 * GIB - 212 * MIB), needs(0, 512 * MIB), 'Free 300 MiB on node-1.'],
    ['whole GiB', busy(0, 8 * GIB), needs(0, 2 * GIB), 'Free 2 GiB on node-1.'],
    [
      'what no unit tells exactly',
      busy(0, 8 * GIB - MIB),
      needs(0, MIB + 1),
      'Free 1 byte of memory on node-1.',
    ],
    ['both', busy(4000, 8 * GIB), needs(100, MIB), 'Free 100 millicores and 1 MiB on node-1.'],
    ['too large for the machine', {}, needs(5000, 0), 'Lower the request to 4000 millicores.'],
    [
      'too large for what is left of it',
      busy(3990, 0),
      needs(5000, 0),
      'Lower the request to 10 millicores.',
    ],
    [
      'one kind too large, the other short: one change',
      busy(0, 8 * GIB),
      needs(5000, GIB),
      'Lower the request to 4000 millicores and 0 bytes of memory.',
    ],
    [
      'a machine that reported no capacity',
      { capacity: { cpuMillis: 0, memoryBytes: 0 } },
      needs(1, 0),
      'Lower the request to 0 millicores.',
    ],
    ['more taken than there is', busy(5000, 0), needs(1000, 0), 'Free 2000 millicores on node-1.'],
  ])('%s', (_about, node, workload, cure) => expect(cureOf(node, workload)).toBe(cure))

  test.each<[number, number, string | undefined]>([
    [11, 12, undefined],
    [11, 11, 'Raise quota containers to 12.'],
    [15, 11, 'Raise quota containers to 16.'],
    [0, 0, 'Raise quota containers to 1.'],
  ])('%i containers of %i', (used, limit, cure) => expect(cureOf({}, {}, { used, limit })).toBe(cure))
})

describe('neighbours', () => {
  const elsewhere = { others: [aNode(2, runs('web'))] }
  test.each<[string, Partial<NodeFacts>, Workload['placement'], string | undefined, typeof elsewhere?]>([
    ['one is missing', {}, { affinity: ['db'] }, 'Place a replica of db on node-1.'],
    [
      'one of two is missing',
      runs('db'),
      { affinity: ['db', 'cache'] },
      'Place a replica of cache on node-1.',
    ],
    ['itself, and it runs nowhere yet', {}, { affinity: ['web'] }, undefined],
    [
      'itself, and it runs elsewhere',
      {},
      { affinity: ['web'] },
      'Take web out of placement.affinity.',
      elsewhere,
    ],
    [
      'several to keep away from',
      runs('db', 'cache'),
      { antiAffinity: ['cache', 'db', 'queue'] },
      'Move cache away from node-1. Move db away from node-1.',
    ],
    [
      'a node for each replica',
      runs('web'),
      { antiAffinity: ['web'] },
      'Take web out of placement.antiAffinity.',
    ],
    [
      'with and without the same, which is not there',
      {},
      { affinity: ['db'], antiAffinity: ['db'] },
      'Take db out of placement.affinity.',
    ],
    [
      'with and without the same, which is there',
      runs('db'),
      { affinity: ['db'], antiAffinity: ['db'] },
      'Take db out of placement.antiAffinity.',
    ],
  ])('%s', (_about, node, block, cure, more) => expect(cureOf(node, placement(block), more)).toBe(cure))

  test('one that comes is one container more', () => {
    const cure = cureOf({}, placement({ affinity: ['db'] }), { used: 11, limit: 12 })
    expect(cure).toBe('Place a replica of db on node-1. Raise quota containers to 13.')
  })
})

type Constraints = Constraint[]
const isIn = (label: string, ...values: string[]) => ({ label, operator: 'in' as const, values })
const notIn = (label: string, ...values: string[]) => ({ label, operator: 'notIn' as const, values })
const exists = (label: string) => ({ label, operator: 'exists' as const })
const notExists = (label: string) => ({ label, operator: 'notExists' as const })

test.each<[string, NodeFacts['labels'], Constraints, string | undefined]>([
  ['the first of a list', {}, [isIn('disk', 'ssd', 'nvme')], 'Set disk=ssd on node-1.'],
  [
    'the one that all lists have',
    {},
    [isIn('disk', 'ssd', 'nvme'), notIn('disk', 'ssd')],
    'Set disk=nvme on node-1.',
  ],
  ['none of a list', { zone: 'a' }, [notIn('zone', 'a')], 'Remove the label zone on node-1.'],
  ['any', {}, [exists('gpu')], 'Set gpu=true on node-1.'],
  ['any but one', {}, [exists('gpu'), notIn('gpu', 'true')], 'Set gpu=true-2 on node-1.'],
  ['none', { old: 'yes' }, [notExists('old')], 'Remove the label old on node-1.'],
  [
    'two labels',
    { zone: 'a' },
    [isIn('disk', 'ssd'), isIn('zone', 'b')],
    'Set disk=ssd on node-1. Set zone=b on node-1.',
  ],
  [
    'no value does',
    {},
    [isIn('disk', 'ssd'), notExists('disk')],
    'Take "disk in ssd" out of placement.constraints.',
  ],
  [
    'written twice',
    {},
    [isIn('disk', 'ssd'), notIn('disk', 'ssd'), isIn('disk', 'ssd')],
    'Take "disk in ssd" out of placement.constraints.',
  ],
  [
    "the platform's own label",
    {},
    [exists('holdfast.io/rack')],
    'Take "holdfast.io/rack exists" out of placement.constraints.',
  ],
])('a label: %s', (_about, labels, constraints, cure) =>
  expect(cureOf({ labels }, placement({ constraints }))).toBe(cure),
)

describe('residency', () => {
  const wish = (parts: Partial<DesiredResidency>): Partial<Workload> => ({
    residency: { enforced: true, regionCountries: parts.region === 'eu' ? ['FR', 'DE'] : [], ...parts },
  })
  /** `attested` as the token says; of it the node advertises only what `told` names. */
  const stands = (
    attested: NodeFacts['attested'],
    ...told: ('country' | 'region')[]
  ): Partial<NodeFacts> => ({
    attested,
    labels: {
      ...(told.includes('country') && attested.country ? { [NODE_COUNTRY]: attested.country } : {}),
      ...(told.includes('region') && attested.region ? { [NODE_REGION]: attested.region } : {}),
    },
  })
  const anew = (label: string, value: string) =>
    `Enroll node-1 anew with a join token that attests ${label}=${value}, if it stands there.`

  test.each<[string, Partial<NodeFacts>, Partial<DesiredResidency>, string | undefined]>([
    ['it says so', stands({ country: 'DE' }, 'country'), { country: 'DE' }, undefined],
    ['it may say so', stands({ country: 'DE' }), { country: 'DE' }, 'Set holdfast.io/country=DE on node-1.'],
    ['it may not', stands({ country: 'US' }, 'country'), { country: 'DE' }, anew(NODE_COUNTRY, 'DE')],
    ['nothing is attested', {}, { country: 'DE' }, anew(NODE_COUNTRY, 'DE')],
    ['a region of which nothing is attested', {}, { region: 'eu' }, anew(NODE_REGION, 'eu')],
    [
      'a region by its name',
      stands({ region: 'eu' }),
      { region: 'eu' },
      'Set holdfast.io/geo-region=eu on node-1.',
    ],
    [
      'a region by a country of it',
      stands({ country: 'DE', region: 'na' }, 'region'),
      { region: 'eu' },
      'Set holdfast.io/country=DE on node-1.',
    ],
    [
      'a region by a country of it that is not blocked',
      stands({ country: 'FR' }),
      { region: 'eu', blockedCountries: ['FR'] },
      anew(NODE_REGION, 'eu'),
    ],
    [
      'all of it at once',
      stands({ country: 'FR' }, 'country'),
      { country: 'DE', region: 'eu', blockedCountries: ['FR'] },
      anew(NODE_COUNTRY, 'DE'),
    ],
    [
      'in a blocked country, in the right region',
      stands({ country: 'FR', region: 'eu' }, 'country', 'region'),
      { region: 'eu', blockedCountries: ['FR'] },
      anew(NODE_COUNTRY, 'DE'),
    ],
    [
      'a blocked country, and none is asked for: it is not to be hidden',
      stands({ country: 'US' }, 'country'),
      { blockedCountries: ['US', 'CN'] },
      'Take US out of placement.residency.blockedCountries.',
    ],
    [
      'a country that is blocked as well',
      stands({ country: 'US' }, 'country'),
      { country: 'DE', blockedCountries: ['DE'] },
      'Take placement.residency.country (DE) out.',
    ],
    [
      'not enforced',
      stands({ country: 'DE' }, 'country'),
      { country: 'DE', enforced: false },
      'Switch residency.enforcement on in the configuration of the control plane.',
    ],
    [
      'not enforced, and nothing left to enforce',
      stands({ country: 'US' }, 'country'),
      { blockedCountries: ['US'], enforced: false },
      'Take US out of placement.residency.blockedCountries.',
    ],
  ])('%s', (_about, node, parts, cure) => expect(cureOf(node, wish(parts))).toBe(cure))

  test('a constraint on the country is answered together with the demand', () => {
    const block = placement({ constraints: [notIn(NODE_COUNTRY, 'FR')] })
    const cure = cureOf(stands({ country: 'DE' }), { ...wish({ region: 'eu' }), ...block })
    expect(cure).toBe('Set holdfast.io/country=DE on node-1.')
  })

  test('a demand is not weakened for a constraint that contradicts it', () => {
    const block = placement({ constraints: [notIn(NODE_COUNTRY, 'DE')] })
    const cure = cureOf(stands({ country: 'FR' }, 'country'), { ...wish({ country: 'DE' }), ...block })
    expect(cure).toBe(
      `${anew(NODE_COUNTRY, 'DE')} Take "holdfast.io/country notIn DE" out of placement.constraints.`,
    )
  })

  test('however long the lists are, the answer comes at once', () => {
    const values = Array.from({ length: 64 }, (_value, at) => `v${at}`)
    const constraints = [NODE_COUNTRY, NODE_REGION, 'zone'].flatMap((label) =>
      Array.from({ length: 5 }, (_list, at) => isIn(label, ...values.slice(at))),
    )
    const cure = cureOf({}, { ...wish({ region: 'eu' }), ...placement({ constraints }) })
    expect(cure?.split('. ')).toHaveLength(12)
  })

  test('what else is in the way is told with it', () => {
    const node = { ...stands({ country: 'DE' }), schedulable: false, ...busy(4000, 0) }
    const cure = cureOf(node, { ...wish({ country: 'DE' }), ...needs(100, 0) })
    expect(cure).toBe('Uncordon node-1. Set holdfast.io/country=DE on node-1. Free 100 millicores on node-1.')
  })
})

test('what does not cure is not said, whatever was refused', () => {
  const node = aNode(1, { schedulable: false, status: 'failed' })
  const facts = someFacts([node])
  const refusals = allRefusals(aWorkload(), node, facts)
  const cured = (filter: string) =>
    curesFor(aWorkload(), facts)(
      node,
      refusals.filter((refusal) => refusal.filter !== filter),
    )
  expect([cured('cordon'), cured('readiness')]).toEqual([undefined, undefined])
  expect(cured('quota')).toBeDefined()
})

test('a change leaves what it was given as it was, and is seen among the nodes of the tenant', () => {
  const node = aNode(1, { schedulable: false, labels: { zone: 'a' } })
  const facts = someFacts([aNode(0), node])
  const workload = aWorkload(placement({ constraints: [isIn('zone', 'b')] }))
  const changed = applyChange({ kind: 'set_label', label: 'zone', value: 'b' }, { workload, node, facts })
  expect([node.labels, changed.node.labels]).toEqual([{ zone: 'a' }, { zone: 'b' }])
  expect(changed.facts.nodes).toEqual([aNode(0), changed.node])
  const open = applyChange({ kind: 'uncordon' }, changed)
  expect(checkCandidates(open.workload, open.facts).map(({ refusals }) => refusals.length)).toEqual([1, 0])
})
