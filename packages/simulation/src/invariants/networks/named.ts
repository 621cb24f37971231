// The networks of a tenant by name, and the workloads that use one.

import type { TenantId } from '@holdfast/contract'
import type { StoredNetwork } from '@holdfast/server/store/records'
import { FINAL } from '../jobs/ends.ts'
import type { Moment } from '../moment.ts'
import { activeCanary, specOf } from '../placement/assigned.ts'

/** The networks with the name, now and at the moment before. */
export function networksNamed({ networks }: Moment, tenant: TenantId, name: string): StoredNetwork[] {
  const isMeant = (network: StoredNetwork | undefined): network is StoredNetwork =>
    network?.options.name === name
  const now = networks.all.filter((kept) => kept.tenant === tenant).map(({ record }) => record)
  const before = networks.changed.filter((change) => change.tenant === tenant).map(({ was }) => was)
  return [...now, ...before].filter(isMeant)
}

/** The users of the network: specs that name it, jobs that have not ended, and assignments whose container joins it. */
export function usersOf({ deployments, jobs, placements }: Moment, tenant: TenantId, name: string): string[] {
  const own = <T>(all: readonly { readonly tenant: TenantId | undefined; readonly record: T }[]): T[] =>
    all.filter((kept) => kept.tenant === tenant).map(({ record }) => record)
  const naming = own(deployments.all).filter((stored) => {
    const sides = activeCanary(stored) === undefined ? [{}] : [{}, { canary: true }]
    return sides.some((side) => specOf(stored, side).networks?.includes(name))
  })
  const running = own(jobs.all).filter(
    ({ phase, spec }) => !FINAL.has(phase) && spec.networks?.includes(name),
  )
  const joining = own(placements.all).flatMap(({ assignments, templates }) =>
    assignments.filter(({ templateHash }) => templates[templateHash]?.networks?.includes(name)),
  )
  return [
    ...naming.map(({ spec }) => `the deployment ${spec.name}`),
    ...running.map(({ spec }) => `the job ${spec.name}`),
    ...joining.map(({ id }) => `the assignment ${id}`),
  ]
}
