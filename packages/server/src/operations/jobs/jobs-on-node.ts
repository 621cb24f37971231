// The jobs that keep a node from being drained or released: it waits for their ends.

import type { NodeId, TenantId } from '@holdfast/contract'
import { jobs, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** Named jobs; a response has no list without a bound. */
const MOST_NAMED = 20

/** Why jobs keep a node from being empty, one sentence for each. */
export function jobBlockers(store: Pick<Store, 'list'>, tenant: TenantId, nodeId: NodeId): string[] {
  const found = store
    .list(jobs, tenant)
    .map(({ record }) => record)
    .filter((job) => job.current !== undefined && job.nodeId === nodeId)
  const more = found.length - MOST_NAMED
  const named = found.slice(0, MOST_NAMED).map(blockerText)
  return more > 0 ? [...named, more === 1 ? '1 more job runs there' : `${more} more jobs run there`] : named
}

function blockerText({ id, spec, deadlineAt }: StoredJob): string {
  const latest = deadlineAt === undefined ? '' : `, by ${deadlineAt} at the latest`
  return `job ${spec.name} runs there: wait until it ends${latest}, or cancel it with holdfast job cancel ${id}`
}
