// For tests only: random small clusters and workloads that exercise every filter.

import {
  type Capacity,
  NODE_COUNTRY,
  NODE_REGION,
  type ResidencyDemand,
  type ResidencyRules,
} from '@holdfast/contract'
import fc from 'fast-check'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { desiredResidency } from './residency.ts'
import { nodeIdOf } from './scheduling.fixture.ts'

const NAMES = ['web', 'db', 'cache']
const VALUES = ['a', 'b', 'c']
/** Label keys for random nodes. Some of the keys are names of properties that every object inherits. */
const KEYS = ['zone', 'disk', 'constructor', '__proto__']
const COUNTRIES = ['DE', 'FR', 'US']
const REGIONS = ['eu', 'na', 'constructor', '__proto__']
/** The declared regions with their countries. Nodes may report the region `constructor`, which is not declared. */
const DECLARED = Object.fromEntries([
  ['eu', ['DE', 'FR']],
  ['na', ['US']],
  ['__proto__', ['FR']],
])
/** Capabilities that random workloads need. Agents that state none have the first one only. */
const CAPABILITIES = ['limits', 'volumes', 'networks']
/** The most nodes of one random tenant. */
const MAX_NODES = 9

/** Generates undefined in most cases, because with a value in each case hardly any node would be accepted. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const mostly = <T>(usual: T, ...rare: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) })

/** Random amounts of CPU and memory from few different values, so that requests often fit exactly. */
const amounts = (max: number): fc.Arbitrary<Capacity> =>
  fc.record({ cpuMillis: fc.integer({ min: 0, max }), memoryBytes: fc.integer({ min: 0, max }) })

const ownLabels = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)), {
    maxLength: 3,
    selector: ([key]) => key,
  })
  .map((entries): NodeFacts['labels'] => Object.fromEntries(entries))
const replicas = fc
  .dictionary(fc.constantFrom(...NAMES), fc.integer({ min: 1, max: 3 }), { maxKeys: 2 })
  .map((counts): ReadonlyMap<string, number> => new Map(Object.entries(counts)))

const places = { country: fc.constantFrom(...COUNTRIES), region: fc.constantFrom(...REGIONS) }
const attested: fc.Arbitrary<NodeFacts['attested']> = fc.oneof(
  { weight: 3, arbitrary: fc.record(places, { requiredKeys: ['country'] }) },
  { weight: 1, arbitrary: fc.record(places, { requiredKeys: [] }) },
)

/**
 * Random labels and attested location of a node. A node reports its attested country and region, or leaves some out. If a
 * node is meant to report a false country, the facts have the attested country as `hiddenCountry`.
 */
export const arbitraryStanding = fc
  .tuple(ownLabels, attested, mostly(true, false), mostly(true, false), fc.boolean())
  .map(([own, ofToken, reportsCountry, reportsRegion, lies]) => ({
    attested: ofToken,
    hiddenCountry: lies && !reportsCountry ? ofToken.country : undefined,
    labels: {
      ...own,
      ...(ofToken.country !== undefined && reportsCountry ? { [NODE_COUNTRY]: ofToken.country } : {}),
      ...(ofToken.region !== undefined && reportsRegion ? { [NODE_REGION]: ofToken.region } : {}),
    },
  }))

export const arbitraryNode = (number: number): fc.Arbitrary<NodeFacts> =>
  fc
    .record({
      id: fc.constant(nodeIdOf(number)),
      name: fc.constantFrom(`n${number}`, `m${number}`),
      status: mostly<NodeFacts['status']>('ready', 'pending', 'unreachable', 'failed'),
      schedulable: mostly(true, false),
      controlPlane: mostly(false, true),
      standing: arbitraryStanding,
      claim: mostly<NodeFacts['claim']>('sole', 'releasing', 'shared'),
      agent: mostly<NodeFacts['agent']>(
        { version: '0.2.0', capabilities: CAPABILITIES },
        undefined,
        { version: '0.1.0' },
        { version: '0.2.0', capabilities: ['volumes'] },
        { version: '0.1.9', capabilities: [] },
      ),
      capacity: amounts(12),
      requested: amounts(6),
      replicas,
      faults: mostly<NodeFacts['faults']>(undefined, ['engine_silent'], ['disk_pressure'], ['pool_changed']),
      pool: mostly<NodeFacts['pool']>(
        { poolBytes: 200, claimedBytes: 0 },
        undefined,
        { poolBytes: 200, claimedBytes: 185 },
        { poolBytes: 100, claimedBytes: 90 },
      ),
    })
    .map(({ standing: stands, ...rest }) => ({ ...rest, ...stands }))

/** A random tenant. `first` is the number of its first node, so that two tenants have no node in common. */
export const arbitraryTenant = (first = 1, min = 0, max = MAX_NODES): fc.Arbitrary<TenantFacts> =>
  fc.record({
    nodes: fc
      .integer({ min, max })
      .chain((count) =>
        fc.tuple(...Array.from({ length: count }, (_node, index) => arbitraryNode(first + index))),
      ),
    containers: fc.record({
      used: fc.integer({ min: 0, max: 6 }),
      limit: mostly(100, 0, 3, 6),
    }),
  })

const constraint = fc.record(
  {
    label: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('in' as const, 'notIn' as const, 'exists' as const, 'notExists' as const),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { maxLength: 2 }),
  },
  { requiredKeys: ['label', 'operator'] },
)
const names = seldom(fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 })).map((some) => some ?? [])

const { country, region } = places
const blockedCountries = fc.uniqueArray(country, { maxLength: 2 })
const demand: fc.Arbitrary<ResidencyDemand> = fc.oneof(
  ...[fc.record({ country }), fc.record({ region }), fc.record({ blockedCountries })],
  fc.record({ country, region, blockedCountries }, { requiredKeys: [] }),
)
const rules: fc.Arbitrary<ResidencyRules> = fc.record({
  enforcement: mostly(true, false),
  regions: fc.constant(DECLARED),
})
export const arbitraryResidency: fc.Arbitrary<Workload['residency']> = fc
  .tuple(demand, rules)
  .map(([wanted, known]) => desiredResidency(wanted, known))

/** A random mounted volume. Its primary may be on a node that the tenant does not have, or on none. */
const mountedVolume = fc.record({
  id: fc.constantFrom('vol_a', 'vol_b'),
  primary: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: MAX_NODES }).map(nodeIdOf) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  copies: fc.dictionary(
    fc.integer({ min: 1, max: MAX_NODES }).map((number): string => nodeIdOf(number)),
    fc.constantFrom('current', 'lagging'),
    { maxKeys: 3, noNullPrototype: true },
  ),
  isMoving: mostly(false, true),
})

/** A random network. It may be on a node that the tenant does not have, or be gone. */
const namedNetwork = fc.record({
  name: fc.constantFrom('front', 'back'),
  nodeId: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }).map(nodeIdOf) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
})

/** A node that could not create a container; the tenant may not have it. */
const avoided = fc.record({
  nodeId: fc.integer({ min: 1, max: MAX_NODES }).map(nodeIdOf),
  cause: fc.constantFrom('no space', 'no network'),
})

/** A random workload. It may name a node that the tenant does not have. */
export const arbitraryWorkload: fc.Arbitrary<Workload> = fc.record({
  name: fc.constantFrom(...NAMES),
  resources: fc.oneof(amounts(4), fc.constant({ cpuMillis: 0, memoryBytes: 0 })),
  placement: fc.option(
    fc.record(
      {
        constraints: fc.array(constraint, { maxLength: 2 }),
        affinity: names,
        antiAffinity: names,
        spread: fc.constantFrom(...KEYS),
      },
      { requiredKeys: [] },
    ),
    { nil: undefined },
  ),
  nodeId: seldom(fc.integer({ min: 1, max: MAX_NODES + 2 }).map(nodeIdOf)),
  residency: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: arbitraryResidency },
  ),
  ofPlatform: fc.boolean(),
  returnsTo: seldom(fc.uniqueArray(fc.integer({ min: 1, max: MAX_NODES }).map(nodeIdOf), { maxLength: 2 })),
  needs: seldom(fc.subarray(CAPABILITIES)).map((some) => some ?? []),
  storageBytes: seldom(fc.constantFrom(5, 6, 150)),
  volumes: seldom(fc.array(mountedVolume, { maxLength: 2 })),
  networks: seldom(fc.uniqueArray(namedNetwork, { maxLength: 2, selector: ({ name }) => name })),
  avoids: seldom(fc.uniqueArray(avoided, { maxLength: 3, selector: ({ nodeId }) => nodeId })),
})
