// GET .../volumes/{id}/divergences: the data that former primaries of a volume keep, from the last reports of all nodes, and
// the one divergence that a request names.

import {
  capabilitiesOf,
  DIVERGENCES,
  type Divergence,
  type Divergences,
  isVolumeId,
  type TenantId,
} from '@holdfast/contract'
import { type FoundDivergences, type KeepingNode, listDivergences, reject } from '@holdfast/core'
import { nodes, pools, type StoredVolume, volumes } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { done, type Outcome, type Refused, refused, refusedBy } from '../../caller.ts'
import { listPage, type PageRequest } from '../../page.ts'
import { volumeNotFound } from '../read-volumes.ts'

export async function listKeptDivergences(
  store: Store,
  tenant: TenantId,
  id: string,
  request: PageRequest,
): Promise<Outcome<Divergences>> {
  await store.fresh()
  const volume = findStoredVolume(store, tenant, id)
  if (volume === undefined) return volumeNotFound(id)
  const { items, unobserved } = gatherDivergences(store, tenant, volume)
  const page = await listPage(store, request, () => items, positionOf)
  return page.ok ? done({ ...page.value, items: [...page.value.items], unobserved }) : page
}

export function findStoredVolume(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  id: string,
): StoredVolume | undefined {
  return isVolumeId(id) ? store.get(inTenant(tenant, volumes, id))?.record : undefined
}

const EPOCH_DIGITS = 16
/** Sorts the newest epoch first. */
const positionOf = ({ epoch, nodeId }: Divergence): string =>
  `${String(Number.MAX_SAFE_INTEGER - epoch).padStart(EPOCH_DIGITS, '0')}/${nodeId}`

function gatherDivergences(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  { id, primary, copies, promotions = [] }: StoredVolume,
): FoundDivergences {
  const found = store.list(nodes, tenant).map(({ record }): KeepingNode => {
    const pool = store.get(inTenant(tenant, pools, record.id))?.record
    return {
      id: record.id,
      name: record.name,
      isHeard: record.status === 'ready',
      canSend: capabilitiesOf(record.agent).includes(DIVERGENCES),
      // A pool of another tenant has no data of this one.
      pool: pool?.foreign === undefined ? pool : { copies: [], quarantined: [] },
    }
  })
  const suspects = [...copies.map(({ nodeId }) => nodeId), ...promotions.map(({ from }) => from)]
  return listDivergences({ id, epoch: primary?.epoch ?? 0, suspects }, found)
}

export interface NamedDivergence {
  readonly volume: StoredVolume
  readonly epoch: number
  /** Undefined if every node was observed and none keeps data of this epoch. */
  readonly kept: Divergence | undefined
}

const EPOCH = /^(?:0|[1-9]\d{0,14})$/

/** Finds what a request names by epoch and, if several nodes keep data of it, by the name or id of the node. */
export function findDivergence(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  path: { readonly id: string; readonly epoch: string },
  node: string | undefined,
): Outcome<NamedDivergence> {
  const volume = findStoredVolume(store, tenant, path.id)
  if (volume === undefined) return volumeNotFound(path.id)
  const epoch = EPOCH.test(path.epoch) ? Number(path.epoch) : undefined
  if (epoch === undefined || epoch > (volume.primary?.epoch ?? 0)) return divergenceNotFound(path.epoch)
  const { items, unobserved } = gatherDivergences(store, tenant, volume)
  const isNamed = ({ nodeId, nodeName }: Pick<Divergence, 'nodeId' | 'nodeName'>): boolean =>
    node === undefined || nodeId === node || nodeName === node
  const [kept, ...others] = items.filter((item) => item.epoch === epoch && isNamed(item))
  if (others.length > 0) {
    const names = items.filter((item) => item.epoch === epoch).map(({ nodeName }) => nodeName)
    return refused(
      reject('query_parameter_invalid', 'node', node, {
        accepted: `one of the nodes that keep data of epoch ${epoch}: ${names.join(', ')}`,
      }),
    )
  }
  const unknown = kept?.unavailable === null ? undefined : (kept ?? unobserved.find(isNamed))
  if (unknown !== undefined) return nodeUnavailable(unknown.nodeName)
  return done({ volume, epoch, kept })
}

export const divergenceNotFound = (epoch: string): Refused => refused(reject('not_found', 'path', epoch))

/** The data is or may be on a node that cannot be asked now, which is not the same as absent data. */
export const nodeUnavailable = (nodeName: string): Refused =>
  refusedBy({
    rejections: [reject('job_node_candidates_unresolvable', 'id', nodeName)],
    alternative: true,
  })
