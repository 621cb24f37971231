// The endpoints /deployments and /archives.

import {
  archiveEntryShape,
  decisionShape,
  deletedDeploymentShape,
  deploymentMetricsShape,
  deploymentRecordShape,
  deploymentSummaryShape,
  type ExecRequest,
  issuedExecShape,
  type JsonObject,
  pageShape,
  placementEntryShape,
  statusWithTimelineShape,
  whyShape,
  writtenShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery, ShortListQuery } from '../pages.ts'
import { segment } from '../request.ts'
import { itemsShape } from '../responses.ts'
import type { MetricsQuery } from './nodes.ts'

/** A manifest that the client has not checked; the server validates it. */
export type SentDeployment = JsonObject

/** A canary to start. The server validates the change as an update. */
export interface SentCanary {
  readonly change: SentDeployment
  readonly replicas: number
  readonly weight: number
  readonly observe?: string
}

export interface WhyQuery extends PageQuery {
  /** A time of which to explain the decision; absent: now. */
  readonly at?: string | undefined
  /** The nodes one by one, or in groups of equal reasons. */
  readonly view?: 'candidates' | 'groups'
}

export interface DecisionQuery extends PageQuery {
  /** A time, or a duration before now. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const ALL = '/deployments'
const one = (name: string): string => `${ALL}/${segment(name)}`
const canary = (name: string): string => `${one(name)}/canary`
const archive = (name: string): string => `/archives${one(name)}`

export function deploymentCalls({ get, post, write }: Calls) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(deploymentRecordShape), { ...page }, options),
    /** Reads one page of short items, which `query` filters and sorts. */
    summaries: (query: ShortListQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(deploymentSummaryShape), { ...query, view: 'summary' }, options),
    /** Reads the times at which the explanation of the deployment changed, newest first. */
    decisions: (name: string, query: DecisionQuery = {}, options?: CallOptions) =>
      get(`${one(name)}/decisions`, pageShape(decisionShape), { ...query }, options),
    read: (name: string, options?: CallOptions) => get(one(name), deploymentRecordShape, {}, options),
    status: (name: string, options?: CallOptions) =>
      get(`${one(name)}/status`, statusWithTimelineShape, {}, options),
    placements: (name: string, options?: CallOptions) =>
      get(`${one(name)}/placements`, itemsShape(placementEntryShape), {}, options),
    metrics: (name: string, query: MetricsQuery = {}, options?: CallOptions) =>
      get(`${one(name)}/metrics`, deploymentMetricsShape, { ...query }, options),
    why: (name: string, query: WhyQuery = {}, options?: CallOptions) =>
      get(`${one(name)}/why`, whyShape, { ...query }, options),
    create: (sent: SentDeployment, options?: IntentOptions) => post(ALL, sent, writtenShape, options),
    update: (name: string, sent: SentDeployment, options?: ConditionalOptions) =>
      write('PUT', one(name), writtenShape, { body: sent }, options),
    remove: (name: string, options?: ConditionalOptions) =>
      write('DELETE', one(name), deletedDeploymentShape, {}, options),
    restart: (name: string, options?: IntentOptions & ConditionalOptions) =>
      post(`${one(name)}/restart`, undefined, writtenShape, options),
    rollBack: (name: string, revision: number, options?: IntentOptions & ConditionalOptions) =>
      post(`${one(name)}/rollback`, { revision }, writtenShape, options),
    startCanary: (name: string, sent: SentCanary, options?: IntentOptions & ConditionalOptions) =>
      post(canary(name), { ...sent }, writtenShape, options),
    promoteCanary: (name: string, force: boolean, options?: IntentOptions & ConditionalOptions) =>
      post(`${canary(name)}/promote`, { force }, writtenShape, options),
    abortCanary: (name: string, options?: IntentOptions & ConditionalOptions) =>
      post(`${canary(name)}/abort`, undefined, writtenShape, options),
    archived: (name: string, page: PageQuery = {}, options?: CallOptions) =>
      get(archive(name), pageShape(archiveEntryShape), { ...page }, options),
    archivedRevision: (name: string, revision: number, options?: CallOptions) =>
      get(`${archive(name)}/${revision}`, archiveEntryShape, {}, options),
    exec: (name: string, request: ExecRequest, options?: CallOptions) =>
      write('POST', `${one(name)}/exec`, issuedExecShape, { body: { ...request } }, options),
  }
}
