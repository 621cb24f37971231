// May the tenant have one more container? A quota that is reached stops new ones and shrinks nothing; it says the same of
// every node. SPEC 3 rule 4, DECISIONS 6.

import type { Refusal } from '@holdfast/contract'
import type { TenantFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

export const quota: Filter = {
  name: 'quota',
  curedBy: ['quota', 'placements'],
  phrases: { containers_quota_reached: 'closed by the quota of containers' },
  refuse(_workload, _node, { containers }) {
    if (containers.used < containers.limit) return undefined
    const said = lastSaid.get(containers)
    return said !== undefined && isOf(said, containers) ? said.refusal : reached(containers)
  },
}

const REQUIRED = { containers: 1 }

interface Reached {
  readonly used: number
  readonly limit: number
  readonly refusal: Refusal
}

type Containers = TenantFacts['containers']

/** It is asked of one node after the other, and says the same of all; a view counts on in the same object. */
const lastSaid = new WeakMap<Containers, Reached>()

const isOf = (said: Reached, { used, limit }: Containers): boolean =>
  said.used === used && said.limit === limit

function reached(containers: Containers): Refusal {
  const { used, limit } = containers
  const refusal: Refusal = {
    filter: 'quota',
    code: 'containers_quota_reached',
    required: REQUIRED,
    reported: { free: Math.max(0, limit - used), used, limit },
    fix: `Raise the tenant's quota of containers from ${limit} to ${used + 1}, or stop ${used - limit + 1} of its ${used}.`,
  }
  lastSaid.set(containers, { used, limit, refusal })
  return refusal
}
