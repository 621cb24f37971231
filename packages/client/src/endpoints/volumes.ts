// The endpoints of volumes. Their paths contain the id of the tenant, which is that of the connection or of the token.

import {
  deletedDivergenceShape,
  divergencesShape,
  dryRunResultShape,
  type JsonObject,
  meShape,
  pageShape,
  recommendationShape,
  type SentPromotion,
  type Shape,
  type VolumeId,
  volumeShape,
  whyShape,
  writtenVolumeShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { Connection } from '../connection.ts'
import { type ByteStream, openBytes } from '../open-stream.ts'
import type { PageQuery } from '../pages.ts'
import { segment } from '../request.ts'
import type { Result } from '../result.ts'

/** A volume that the client has not checked; the server validates it. */
export type SentVolume = JsonObject

export function volumeCalls(calls: Calls, connection: Connection) {
  const withTenant = tenantOf(calls, connection.tenant)
  const within: Within = (path, call) => withTenant((id) => call(`/tenants/${segment(id)}/volumes${path}`))
  return {
    ...volumeReads(calls, within),
    ...volumeWrites(calls, within),
    dryRuns: volumeDryRuns(calls, within),
    divergences: divergenceCalls(calls, connection, within),
    recommendations: recommendationCalls(calls, withTenant),
  }
}

type WithTenant = <T>(call: (tenant: string) => Promise<Result<T>>) => Promise<Result<T>>

type Within = <T>(path: string, call: (path: string) => Promise<Result<T>>) => Promise<Result<T>>

/** Calls with the id of the tenant. The id of the token's tenant is read once. */
function tenantOf({ get }: Calls, tenant: string | undefined): WithTenant {
  let known = tenant
  return async (call) => {
    if (known === undefined) {
      const me = await get('/me', meShape)
      if (!me.ok) return me
      known = me.value.tenant.id
    }
    return call(known)
  }
}

const one = (id: string): string => `/${segment(id)}`
const copy = (id: string, nodeId: string): string => `${one(id)}/replicas/${segment(nodeId)}`

function volumeReads({ get }: Calls, within: Within) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get('/dvm/volumes', pageShape(volumeShape), { ...page }, options),
    read: (id: string, options?: CallOptions) =>
      within(one(id), (path) => get(path, volumeShape, {}, options)),
    why: (id: string, page: PageQuery = {}, options?: CallOptions) =>
      within(`${one(id)}/why`, (path) => get(path, whyShape, { ...page }, options)),
  }
}

function volumeWrites({ post, write }: Calls, within: Within) {
  return {
    create: (sent: SentVolume, options?: IntentOptions) =>
      within('', (path) => post(path, sent, writtenVolumeShape, options)),
    setReplicas: (id: VolumeId, replicas: number, options?: ConditionalOptions) =>
      within(one(id), (path) => write('PATCH', path, volumeShape, { body: { replicas } }, options)),
    resize: (id: VolumeId, sizeBytes: number, options?: IntentOptions) =>
      within(`${one(id)}/resize`, (path) => post(path, { sizeBytes }, volumeShape, options)),
    addReplica: (id: VolumeId, nodeId: string, options?: IntentOptions) =>
      within(`${one(id)}/replicas`, (path) => post(path, { node_id: nodeId }, volumeShape, options)),
    promote: (id: VolumeId, sent: SentPromotion, options?: IntentOptions) =>
      within(`${one(id)}/promote`, (path) => post(path, { ...sent }, volumeShape, options)),
    removeReplica: (id: VolumeId, nodeId: string, options?: ConditionalOptions) =>
      within(copy(id, nodeId), (path) => write('DELETE', path, volumeShape, {}, options)),
    remove: (id: string, options?: ConditionalOptions) =>
      within(one(id), (path) => write('DELETE', path, volumeShape, {}, options)),
  }
}

const volumePlan = dryRunResultShape(volumeShape)

function volumeDryRuns({ dryRun }: Calls, within: Within) {
  const plan =
    <T>(method: 'POST' | 'PATCH' | 'DELETE', shape: Shape<T>) =>
    (path: string, body: JsonObject | undefined, options?: CallOptions) =>
      within(path, (full) => dryRun(method, full, shape, body === undefined ? {} : { body }, options))
  const [post, patch, remove] = [
    plan('POST', volumePlan),
    plan('PATCH', volumePlan),
    plan('DELETE', volumePlan),
  ]
  const create = plan('POST', dryRunResultShape(writtenVolumeShape))
  return {
    create: (sent: SentVolume, options?: CallOptions) => create('', sent, options),
    setReplicas: (id: VolumeId, replicas: number, options?: CallOptions) =>
      patch(one(id), { replicas }, options),
    resize: (id: VolumeId, sizeBytes: number, options?: CallOptions) =>
      post(`${one(id)}/resize`, { sizeBytes }, options),
    addReplica: (id: VolumeId, nodeId: string, options?: CallOptions) =>
      post(`${one(id)}/replicas`, { node_id: nodeId }, options),
    promote: (id: VolumeId, sent: SentPromotion, options?: CallOptions) =>
      post(`${one(id)}/promote`, { ...sent }, options),
    removeReplica: (id: VolumeId, nodeId: string, options?: CallOptions) =>
      remove(copy(id, nodeId), undefined, options),
    remove: (id: VolumeId, options?: CallOptions) => remove(one(id), undefined, options),
  }
}

/** The longest time without a byte of an archive; the server cuts a download on which nothing moves earlier. */
const ARCHIVE = { type: 'application/x-tar', idleMs: 60_000 } as const
const deletedPlan = dryRunResultShape(deletedDivergenceShape)

/** The name or id of the node is needed only if several nodes keep data of one epoch. */
export interface OfNode extends CallOptions {
  readonly node?: string | undefined
}

type RemoveOptions = OfNode & ConditionalOptions

function divergenceCalls({ get, write, dryRun }: Calls, connection: Connection, within: Within) {
  const kept = (id: VolumeId, epoch: number): string => `${one(id)}/divergences/${epoch}`
  return {
    list: (id: VolumeId, page: PageQuery = {}, options?: CallOptions) =>
      within(`${one(id)}/divergences`, (path) => get(path, divergencesShape, { ...page }, options)),
    /** Yields a tar archive. It is complete only if the stream ends with the kind `ended`. */
    download: (
      id: VolumeId,
      epoch: number,
      { node, signal = connection.signal }: OfNode = {},
    ): Promise<Result<ByteStream>> =>
      within(kept(id, epoch), (path) =>
        openBytes(connection, { method: 'GET', path, query: { node }, repeat: 'safe', signal }, ARCHIVE),
      ),
    remove: (id: VolumeId, epoch: number, { node, ...options }: RemoveOptions = {}) =>
      within(kept(id, epoch), (path) =>
        write('DELETE', path, deletedDivergenceShape, { query: { node } }, options),
      ),
    planRemove: (id: VolumeId, epoch: number, { node, ...options }: RemoveOptions = {}) =>
      within(kept(id, epoch), (path) => dryRun('DELETE', path, deletedPlan, { query: { node } }, options)),
  }
}

/** The parameters of a recommendation that the client has not checked; absent: those of the recommendation. */
type SentParameters = JsonObject

function recommendationCalls({ get, post, dryRun }: Calls, withTenant: WithTenant) {
  const apply = (id: string): string => `/dvm/recommendations/${segment(id)}/apply`
  const bodyOf = (parameters: SentParameters | undefined) => (parameters === undefined ? {} : { parameters })
  return {
    list: (page: PageQuery & { readonly type?: string; readonly priority?: string } = {}) =>
      withTenant((tenant) =>
        get(
          '/dvm/recommendations',
          pageShape(recommendationShape),
          { ...page },
          { headers: { 'x-tenant-id': tenant } },
        ),
      ),
    apply: (id: string, parameters?: SentParameters, options?: IntentOptions) =>
      post(apply(id), bodyOf(parameters), volumeShape, options),
    planApply: (id: string, parameters?: SentParameters) =>
      dryRun('POST', apply(id), volumePlan, { body: bodyOf(parameters) }),
  }
}
