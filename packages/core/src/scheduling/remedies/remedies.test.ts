// Tests the text of each remedy, as a user reads it.

import { type Constraint, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { checkCandidates, createRefusalFinder } from '../check-candidates.ts'
import { explainCandidates } from '../explain.ts'
import { explainNodes } from '../explain-nodes.ts'
import type { DesiredResidency, NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { aNode, aWorkload, someFacts } from '../scheduling.fixture.ts'
import { applyChange } from './apply-changes.ts'
import { compareCosts, costOf, type PricedStep } from './cost.ts'
import { createAdvisor } from './find-remedies.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

/** The text of the remedy for `node-1`, among other nodes that may run replicas. */
function remedyOf(
  node: Partial<NodeFacts>,
  workload: Partial<Workload> = {},
  { used = 0, limit = 500, others = [] as NodeFacts[] } = {},
): string | undefined {
  const facts: TenantFacts = someFacts([aNode(1, node), ...others], used, limit)
  const { candidates } = explainCandidates(explainNodes(aWorkload(workload), facts))
  return candidates.find(({ nodeName }) => nodeName === 'node-1')?.cure?.text
}

const runs = (...names: string[]) => ({ replicas: new Map(names.map((name) => [name, 1])) })
const needs = (cpuMillis: number, memoryBytes: number) => ({ resources: { cpuMillis, memoryBytes } })
const busy = (cpuMillis: number, memoryBytes: number) => ({ requested: { cpuMillis, memoryBytes } })
const placement = (block: Workload['placement']) => ({ placement: block })

test.each<[string, Partial<NodeFacts>, string | undefined]>([
  ['a node that accepts', {}, undefined],
  ['a cordoned one', { schedulable: false }, 'Uncordon node-1.'],
  ['one that never connected', { status: 'pending' }, 'Start the agent on node-1.'],
  [
    'a silent one, cordoned',
    { status: 'failed', schedulable: false },
    'Bring node-1 back online. Uncordon node-1.',
  ],
  ['one of the control plane', { controlPlane: true, schedulable: false }, undefined],
  ['one that another tenant claims', { claim: 'shared', schedulable: false }, undefined],
  ['one that is being released', { claim: 'releasing' }, undefined],
])('%s', (_about, node, remedy) => expect(remedyOf(node)).toBe(remedy))

test('an agent without a needed capability is upgraded, and only where one is needed', () => {
  const old = { agent: { version: '0.1.0' } }
  expect(remedyOf(old, { needs: ['limits'] })).toBeUndefined()
  expect(remedyOf(old, { needs: ['volumes', 'networks'] })).toBe('Upgrade the agent on node-1.')
  expect(remedyOf({ ...old, status: 'failed' }, { needs: ['volumes'] })).toBe(
    'Bring node-1 back online. Upgrade the agent on node-1.',
  )
})

describe('amounts', () => {
  test.each<[string, Partial<NodeFacts>, Partial<Workload>, string | undefined]>([
    ['fits exactly', busy(3500, 0), needs(500, 0), undefined],
    ['CPU', busy(3700, 0), needs(500, 0), 'Free 200 millicores on node-1.'],
    ['whole MiB', busy(0, 8 * GIB - 212 * MIB), needs(0, 512 * MIB), 'Free 300 MiB of memory on node-1.'],
    ['whole GiB', busy(0, 8 * GIB), needs(0, 2 * GIB), 'Free 2 GiB of memory on node-1.'],
    [
      'what no unit tells exactly',
      busy(0, 8 * GIB - MIB),
      needs(0, MIB + 1),
      'Free 1 byte of memory on node-1.',
    ],
    ['both', busy(4000, 8 * GIB), needs(100, MIB), 'Free 100 millicores and 1 MiB of memory on node-1.'],
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
  ])('%s', (_about, node, workload, remedy) => expect(remedyOf(node, workload)).toBe(remedy))

  test.each<[number, number, string | undefined]>([
    [11, 12, undefined],
    [11, 11, 'Raise the containers quota to 12.'],
    [15, 11, 'Raise the containers quota to 16.'],
    [0, 0, 'Raise the containers quota to 1.'],
  ])('%i containers of %i', (used, limit, remedy) => expect(remedyOf({}, {}, { used, limit })).toBe(remedy))
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
      'Remove web from placement.affinity.',
      elsewhere,
    ],
    [
      'several names in anti-affinity',
      runs('db', 'cache'),
      { antiAffinity: ['cache', 'db', 'queue'] },
      'Move cache away from node-1. Move db away from node-1.',
    ],
    [
      'a node for each replica',
      runs('web'),
      { antiAffinity: ['web'] },
      'Remove web from placement.antiAffinity.',
    ],
    [
      'with and without the same, which is not there',
      {},
      { affinity: ['db'], antiAffinity: ['db'] },
      'Remove db from placement.affinity.',
    ],
    [
      'with and without the same, which is there',
      runs('db'),
      { affinity: ['db'], antiAffinity: ['db'] },
      'Remove db from placement.antiAffinity.',
    ],
  ])('%s', (_about, node, block, remedy, more) => expect(remedyOf(node, placement(block), more)).toBe(remedy))

  test('a replica that has to come first needs one more container', () => {
    const remedy = remedyOf({}, placement({ affinity: ['db'] }), { used: 11, limit: 12 })
    expect(remedy).toBe('Place a replica of db on node-1. Raise the containers quota to 13.')
  })
})

type Constraints = Constraint[]
const isIn = (label: string, ...values: string[]) => ({ label, operator: 'in' as const, values })
const notIn = (label: string, ...values: string[]) => ({ label, operator: 'notIn' as const, values })
const exists = (label: string) => ({ label, operator: 'exists' as const })
const notExists = (label: string) => ({ label, operator: 'notExists' as const })

test.each<[string, NodeFacts['labels'], Constraints, string | undefined]>([
  ['the first of a list', {}, [isIn('disk', 'ssd', 'nvme')], 'Set the label disk to "ssd" on node-1.'],
  [
    'the one that all lists have',
    {},
    [isIn('disk', 'ssd', 'nvme'), notIn('disk', 'ssd')],
    'Set the label disk to "nvme" on node-1.',
  ],
  ['none of a list', { zone: 'a' }, [notIn('zone', 'a')], 'Remove the label zone from node-1.'],
  ['any', {}, [exists('gpu')], 'Set the label gpu to "true" on node-1.'],
  ['any but one', {}, [exists('gpu'), notIn('gpu', 'true')], 'Set the label gpu to "true-2" on node-1.'],
  ['none', { old: 'yes' }, [notExists('old')], 'Remove the label old from node-1.'],
  [
    'two labels',
    { zone: 'a' },
    [isIn('disk', 'ssd'), isIn('zone', 'b')],
    'Set the label disk to "ssd" on node-1. Set the label zone to "b" on node-1.',
  ],
  [
    'no value does',
    {},
    [isIn('disk', 'ssd'), notExists('disk')],
    'Remove the constraint "disk in ssd" from placement.constraints.',
  ],
  [
    'written twice',
    {},
    [isIn('disk', 'ssd'), notIn('disk', 'ssd'), isIn('disk', 'ssd')],
    'Remove the constraint "disk in ssd" from placement.constraints.',
  ],
  [
    "the platform's own label",
    {},
    [exists('holdfast.io/rack')],
    'Remove the constraint "holdfast.io/rack exists" from placement.constraints.',
  ],
])('a label: %s', (_about, labels, constraints, remedy) =>
  expect(remedyOf({ labels }, placement({ constraints }))).toBe(remedy),
)

describe('residency', () => {
  const demanding = (parts: Partial<DesiredResidency>): Partial<Workload> => ({
    residency: { enforced: true, regionCountries: parts.region === 'eu' ? ['FR', 'DE'] : [], ...parts },
  })
  /** A node whose join token attests the location `attested`; the node reports only the parts in `reported`. */
  const stands = (
    attested: NodeFacts['attested'],
    ...reported: ('country' | 'region')[]
  ): Partial<NodeFacts> => ({
    attested,
    labels: {
      ...(reported.includes('country') && attested.country ? { [NODE_COUNTRY]: attested.country } : {}),
      ...(reported.includes('region') && attested.region ? { [NODE_REGION]: attested.region } : {}),
    },
  })
  const enrolledAgain = (label: string, value: string) =>
    `Enroll node-1 again with a join token that attests the label ${label} as "${value}", if the machine is located there.`

  test.each<[string, Partial<NodeFacts>, Partial<DesiredResidency>, string | undefined]>([
    ['its label reports the country', stands({ country: 'DE' }, 'country'), { country: 'DE' }, undefined],
    [
      'the country may be added to its labels',
      stands({ country: 'DE' }),
      { country: 'DE' },
      'Set the label holdfast.io/country to "DE" on node-1.',
    ],
    [
      'it may not',
      stands({ country: 'US' }, 'country'),
      { country: 'DE' },
      enrolledAgain(NODE_COUNTRY, 'DE'),
    ],
    ['nothing is attested', {}, { country: 'DE' }, enrolledAgain(NODE_COUNTRY, 'DE')],
    ['a region of which nothing is attested', {}, { region: 'eu' }, enrolledAgain(NODE_REGION, 'eu')],
    [
      'a region by its name',
      stands({ region: 'eu' }),
      { region: 'eu' },
      'Set the label holdfast.io/geo-region to "eu" on node-1.',
    ],
    [
      'a region by a country of it',
      stands({ country: 'DE', region: 'na' }, 'region'),
      { region: 'eu' },
      'Set the label holdfast.io/country to "DE" on node-1.',
    ],
    [
      'a region by a country of it that is not blocked',
      stands({ country: 'FR' }),
      { region: 'eu', blockedCountries: ['FR'] },
      enrolledAgain(NODE_REGION, 'eu'),
    ],
    [
      'all of it at once',
      stands({ country: 'FR' }, 'country'),
      { country: 'DE', region: 'eu', blockedCountries: ['FR'] },
      enrolledAgain(NODE_COUNTRY, 'DE'),
    ],
    [
      'in a blocked country, in the right region',
      stands({ country: 'FR', region: 'eu' }, 'country', 'region'),
      { region: 'eu', blockedCountries: ['FR'] },
      enrolledAgain(NODE_COUNTRY, 'DE'),
    ],
    [
      'a blocked country, and none is asked for: it is not to be hidden',
      stands({ country: 'US' }, 'country'),
      { blockedCountries: ['US', 'CN'] },
      'Remove US from placement.residency.blockedCountries.',
    ],
    [
      'a country that is blocked as well',
      stands({ country: 'US' }, 'country'),
      { country: 'DE', blockedCountries: ['DE'] },
      'Remove placement.residency.country (DE).',
    ],
    [
      'not enforced',
      stands({ country: 'DE' }, 'country'),
      { country: 'DE', enforced: false },
      'Turn on residency.enforcement in the server configuration.',
    ],
    [
      'not enforced, and nothing left to enforce',
      stands({ country: 'US' }, 'country'),
      { blockedCountries: ['US'], enforced: false },
      'Remove US from placement.residency.blockedCountries.',
    ],
  ])('%s', (_about, node, parts, remedy) => expect(remedyOf(node, demanding(parts))).toBe(remedy))

  test('a constraint on the country and a demanded region are satisfied together', () => {
    const block = placement({ constraints: [notIn(NODE_COUNTRY, 'FR')] })
    const remedy = remedyOf(stands({ country: 'DE' }), { ...demanding({ region: 'eu' }), ...block })
    expect(remedy).toBe('Set the label holdfast.io/country to "DE" on node-1.')
  })

  test('a constraint that contradicts a residency demand is removed, not the demand', () => {
    const block = placement({ constraints: [notIn(NODE_COUNTRY, 'DE')] })
    const remedy = remedyOf(stands({ country: 'FR' }, 'country'), {
      ...demanding({ country: 'DE' }),
      ...block,
    })
    expect(remedy).toBe(
      `${enrolledAgain(NODE_COUNTRY, 'DE')} Remove the constraint "holdfast.io/country notIn DE" from placement.constraints.`,
    )
  })

  test('long lists of values do not slow the search down', () => {
    const values = Array.from({ length: 64 }, (_value, at) => `v${at}`)
    const constraints = [NODE_COUNTRY, NODE_REGION, 'zone'].flatMap((label) =>
      Array.from({ length: 5 }, (_list, at) => isIn(label, ...values.slice(at))),
    )
    const remedy = remedyOf({}, { ...demanding({ region: 'eu' }), ...placement({ constraints }) })
    expect(remedy?.split('. ')).toHaveLength(12)
  })

  test('other refusals of the node are part of the remedy', () => {
    const node = { ...stands({ country: 'DE' }), schedulable: false, ...busy(4000, 0) }
    const remedy = remedyOf(node, { ...demanding({ country: 'DE' }), ...needs(100, 0) })
    expect(remedy).toBe(
      'Uncordon node-1. Set the label holdfast.io/country to "DE" on node-1. Free 100 millicores on node-1.',
    )
  })
})

test('a remedy that would not help is not reported', () => {
  const node = aNode(1, { schedulable: false, status: 'failed' })
  const facts = someFacts([node])
  const refusals = createRefusalFinder(aWorkload(), facts)(node)
  const remedyWithout = (filter: string) =>
    createAdvisor(aWorkload(), facts)(
      node,
      refusals.filter((refusal) => refusal.filter !== filter),
    ).remedy
  expect([remedyWithout('cordon'), remedyWithout('readiness')]).toEqual([undefined, undefined])
  expect(remedyWithout('quota')).toBeDefined()
})

describe('the fix of a refusal', () => {
  const fixesOf = (node: Partial<NodeFacts>, workload: Partial<Workload> = {}, used = 0) => {
    const facts = someFacts([aNode(1, node)], used)
    const [candidate] = explainCandidates(explainNodes(aWorkload(workload), facts)).candidates
    return candidate?.refusals.map(({ code, fix }) => [code, fix])
  }

  test('is the text of the same change in the remedy', () => {
    const constraints = [isIn('disk', 'nvme'), isIn('zone', 'b'), notIn(NODE_COUNTRY, 'FR')]
    const node = { schedulable: false, labels: { [NODE_COUNTRY]: 'FR', zone: 'a' }, ...busy(4000, 0) }
    const workload = {
      ...placement({ constraints, affinity: ['db'] }),
      residency: { enforced: true, regionCountries: [], country: 'DE' },
      ...needs(100, 0),
    }
    const attest = `Enroll node-1 again with a join token that attests the label ${NODE_COUNTRY} as "DE", if the machine is located there.`
    const set = 'Set the label disk to "nvme" on node-1. Set the label zone to "b" on node-1.'
    expect(fixesOf(node, workload, 500)).toEqual([
      ['node_cordoned', 'Uncordon node-1.'],
      ['residency_country_mismatch', attest],
      ['label_mismatch', `${attest} ${set}`],
      ['affinity_unmet', 'Place a replica of db on node-1.'],
      ['insufficient_cpu', 'Free 100 millicores on node-1.'],
      // The replica of db that has to be placed also uses a container of the quota.
      ['containers_quota_reached', 'Raise the containers quota to 502.'],
    ])
    expect(remedyOf(node, workload, { used: 500 })).toBe(
      `Uncordon node-1. ${attest} ${set} Place a replica of db on node-1. Free 100 millicores on node-1. Raise the containers quota to 502.`,
    )
  })

  test('is given for a node that has no remedy', () => {
    expect(fixesOf({ controlPlane: true, claim: 'shared', schedulable: false }, {}, 500)).toEqual([
      ['node_cordoned', 'Uncordon node-1.'],
      ['control_plane_node', "Enroll another node: node-1 is reserved for the platform's own deployments."],
      ['node_claims_shared', 'Wait until the other claim on node-1 is released.'],
      ['containers_quota_reached', 'Raise the containers quota to 501.'],
    ])
    expect(fixesOf({ claim: 'releasing' })).toEqual([
      ['node_claims_releasing', 'Enroll another node: this tenant is releasing its claim on node-1.'],
    ])
  })
})

describe('the cost of a remedy', () => {
  const steps = (kind: PricedStep['kind'], count: number, amount = 1): PricedStep[] =>
    Array.from({ length: count }, () => ({ kind, amount }))
  const isCheaper = (left: PricedStep[], right: PricedStep[]): boolean =>
    compareCosts(costOf(left), costOf(right)) < 0 && compareCosts(costOf(right), costOf(left)) > 0

  test('of more than a hundred cheap changes is below that of one dearer change', () => {
    expect(isCheaper(steps('change_constraint', 256), steps('change_affinity', 1))).toBe(true)
    expect(isCheaper(steps('place_beside', 1024), steps('move_away', 1))).toBe(true)
    expect(isCheaper(steps('uncordon', 150), steps('raise_quota', 1))).toBe(true)
  })

  test('is decided by the number of changes of the dearest kind', () => {
    expect(isCheaper(steps('move_away', 100), steps('move_away', 101))).toBe(true)
    const few = [...steps('set_label', 300), ...steps('change_constraint', 120)]
    expect(isCheaper(few, steps('change_constraint', 121))).toBe(true)
    expect(isCheaper(steps('change_constraint', 120), few)).toBe(true)
  })

  test('is decided by the amount only between remedies with the same changes', () => {
    expect(isCheaper(steps('free', 1, 2), steps('free', 1, 3))).toBe(true)
    expect(isCheaper(steps('free', 1, 9), steps('free', 2, 1))).toBe(true)
    expect(compareCosts(costOf(steps('free', 3)), costOf(steps('free', 3)))).toBe(0)
  })

  test('puts a node with 120 labels to set before a node that must be enrolled again', () => {
    const constraints = Array.from({ length: 120 }, (_label, at) => isIn(`label-${at}`, 'x'))
    const labels = Object.fromEntries(constraints.map(({ label }) => [label, 'x']))
    const workload = aWorkload({
      ...placement({ constraints }),
      residency: { enforced: true, regionCountries: [], country: 'DE' },
    })
    const unlabelled = aNode(1, { labels: { [NODE_COUNTRY]: 'DE' }, attested: { country: 'DE' } })
    const { cure } = explainCandidates(explainNodes(workload, someFacts([aNode(2, { labels }), unlabelled])))
    expect(cure).toHaveLength(2)
    expect(cure[0]).toMatch(/^Set the label label-0 to "x" on node-1\. .* on node-1\.$/)
    expect(cure[1]).toMatch(/^Enroll node-2 again /)
  })
})

test('applying a change copies the node and replaces it among the nodes of the tenant', () => {
  const node = aNode(1, { schedulable: false, labels: { zone: 'a' } })
  const facts = someFacts([aNode(0), node])
  const workload = aWorkload(placement({ constraints: [isIn('zone', 'b')] }))
  const changed = applyChange({ kind: 'set_label', label: 'zone', value: 'b' }, { workload, node, facts })
  expect([node.labels, changed.node.labels]).toEqual([{ zone: 'a' }, { zone: 'b' }])
  expect(changed.facts.nodes).toEqual([aNode(0), changed.node])
  const open = applyChange({ kind: 'uncordon' }, changed)
  expect(checkCandidates(open.workload, open.facts).map(({ refusals }) => refusals.length)).toEqual([1, 0])
})
