// The endpoints /nodes, except enrollment, which only agents use.

import {
  type Infer,
  issuedJoinTokenShape,
  machineContainerShape,
  type newJoinTokenShape,
  nodeMetricsShape,
  nodeReplicaShape,
  nodeShape,
  nodeSummaryShape,
  pageShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery, ShortListQuery } from '../pages.ts'
import { segment } from '../request.ts'
import { itemsShape } from '../responses.ts'

/** `since`: a time, or a duration before now; absent: the last hour. */
export interface MetricsQuery {
  readonly since?: string
}

type NodeActOptions = IntentOptions & ConditionalOptions

const ALL = '/nodes'
const one = (id: string): string => `${ALL}/${segment(id)}`

export function nodeCalls({ get, post, write }: Calls) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(nodeShape), { ...page }, options),
    /** Reads one page of short items, which `query` filters and sorts. */
    summaries: (query: ShortListQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(nodeSummaryShape), { ...query, view: 'summary' }, options),
    read: (id: string, options?: CallOptions) => get(one(id), nodeShape, {}, options),
    replicas: (id: string, page: PageQuery = {}, options?: CallOptions) =>
      get(`${one(id)}/replicas`, pageShape(nodeReplicaShape), { ...page }, options),
    containers: (id: string, options?: CallOptions) =>
      get(`${one(id)}/containers`, itemsShape(machineContainerShape), {}, options),
    metrics: (id: string, query: MetricsQuery = {}, options?: CallOptions) =>
      get(`${one(id)}/metrics`, nodeMetricsShape, { ...query }, options),
    issueJoinToken: (request: Infer<typeof newJoinTokenShape>, options?: IntentOptions) =>
      post(`${ALL}/join-tokens`, { ...request }, issuedJoinTokenShape, options),
    cordon: (id: string, options?: NodeActOptions) =>
      post(`${one(id)}/cordon`, undefined, nodeShape, options),
    uncordon: (id: string, options?: NodeActOptions) =>
      post(`${one(id)}/uncordon`, undefined, nodeShape, options),
    drain: (id: string, options?: NodeActOptions) => post(`${one(id)}/drain`, undefined, nodeShape, options),
    setControlPlane: (id: string, controlPlane: boolean, options?: ConditionalOptions) =>
      write('PATCH', one(id), nodeShape, { body: { controlPlane } }, options),
    remove: (
      id: string,
      { force = false }: { readonly force?: boolean } = {},
      options?: ConditionalOptions,
    ) => write('DELETE', one(id), nodeShape, { query: { force } }, options),
    releaseClaim: (nodeName: string, options?: ConditionalOptions) =>
      write('DELETE', `${one(nodeName)}/claim`, nodeShape, {}, options),
  }
}
