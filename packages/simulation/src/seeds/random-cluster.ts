// A small random cluster with few machines and tight quotas, so that deployments compete for capacity.

import type { ScriptCluster, ScriptNode, ScriptTenant } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf } from './choose.ts'

export const COUNTRIES = ['DE', 'FR', 'US'] as const
export const REGIONS: { readonly [region: string]: readonly string[] } = { eu: ['DE', 'FR'], us: ['US'] }
export const REGION_NAMES = Object.keys(REGIONS)
export const ZONES = ['a', 'b'] as const

export function randomCluster(random: Random): ScriptCluster {
  const platform = chance(random, 15) ? 1 : 0
  const tenants = Array.from({ length: between(random, 1, 3) }, (_, index) => ({
    ...randomTenant(random, `t${index + 1}`),
    ...(index < platform ? { platform: true } : {}),
  }))
  return {
    regions: REGIONS,
    ...(chance(random, 5) ? { residencyEnforced: false } : {}),
    servers: chance(random, 75) ? ['a', 'b'] : ['a', 'b', 'c'],
    tenants,
    nodes: tenants.flatMap(({ name }) =>
      Array.from({ length: between(random, 1, 4) }, (_, index) =>
        randomNode(random, name, `${name}n${index + 1}`),
      ),
    ),
  }
}

function randomTenant(random: Random, name: string): ScriptTenant {
  const containers = chance(random, 50) ? { containers: between(random, 1, 8) } : {}
  const deployments = chance(random, 30) ? { deployments: between(random, 1, 4) } : {}
  return { name, quotas: { ...containers, ...deployments } }
}

/** A cluster whose nodes have small storage pools, so that volumes compete for them. */
export function randomVolumeCluster(random: Random): ScriptCluster {
  const tenants = Array.from({ length: chance(random, 75) ? 1 : 2 }, (_, index) => ({
    name: `t${index + 1}`,
    quotas: {},
  }))
  return {
    regions: REGIONS,
    servers: ['a', 'b'],
    tenants,
    nodes: tenants.flatMap(({ name }) =>
      Array.from({ length: chance(random, 15) ? 2 : between(random, 3, 4) }, (_, index) => ({
        ...randomNode(random, name, `${name}n${index + 1}`),
        ...(chance(random, 92) ? { poolBytes: between(random, 5, 24) * POOL_STEP_BYTES } : {}),
      })),
    ),
  }
}

const POOL_STEP_BYTES = 32 * 1024 ** 2

function randomNode(random: Random, tenant: string, name: string): ScriptNode {
  const country = oneOf(random, COUNTRIES)
  return {
    name,
    tenant,
    labels: randomLabels(random, country),
    attested: { country, region: regionOf(country) },
    capacity: { cpuMillis: between(random, 2, 8) * 500, memoryBytes: between(random, 2, 8) * 2 ** 28 },
  }
}

const regionOf = (country: string): string =>
  REGION_NAMES.find((region) => REGIONS[region]?.includes(country)) ?? 'eu'

/** Random labels of a node: mostly its true location, sometimes none, sometimes a false location. */
export function randomLabels(random: Random, country: string): { [key: string]: string } {
  const claimed = chance(random, 80) ? country : oneOf(random, COUNTRIES)
  return {
    ...(chance(random, 85) ? { 'holdfast.io/country': claimed } : {}),
    ...(chance(random, 50) ? { 'holdfast.io/geo-region': regionOf(claimed) } : {}),
    zone: oneOf(random, ZONES),
  }
}
