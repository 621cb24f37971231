// The workloads that use a network: those whose specs or canaries name it, and those with containers that may still be
// attached to it. Every kind of workload has placements, so a new kind only adds its specs here.

import { asOwner, isFinalPhase, type TenantId } from '@holdfast/contract'
import { deployments, jobs, placements, type StoredPlacement } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { placementAt } from '../../store/transaction.ts'
import { claimedSpec } from '../deployments/canary/end-canary.ts'

type ReadStore = Pick<Store, 'get' | 'list' | 'keysOf'>

/** A placement that cannot be read may use any network. Its owner stands for the name of its workload. */
export function namesOfUsers(store: ReadStore, tenant: TenantId, network: string): string[] {
  const naming = store
    .list(deployments, tenant)
    .filter(({ record }) => claimedSpec(record).networks?.includes(network))
    .map(({ record }) => record.spec.name)
  const running = store
    .list(jobs, tenant)
    .filter(({ record }) => !isFinalPhase(record.phase) && record.spec.networks?.includes(network))
    .map(({ record }) => record.spec.name)
  const attached = store.keysOf(placements, tenant).flatMap(({ id }) => {
    const placement = store.get(placementAt(tenant, asOwner(id)))?.record
    return placement === undefined ? [id] : attachedName(placement, network)
  })
  return [...new Set([...naming, ...running, ...attached])].sort()
}

function attachedName({ assignments, templates }: StoredPlacement, network: string): string[] {
  const used = assignments
    .map(({ templateHash }) => templates[templateHash])
    .find((template) => template?.networks?.includes(network))
  return used === undefined ? [] : [used.name]
}
