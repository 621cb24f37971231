// A collection of stored records: the folder of their keys and the shape of the records. The shape is the allow-list of
// the encoder (docs/design/store.md#records).

import { integer, type Shape } from '@holdfast/contract'

export interface Collection<T> {
  readonly folder: string
  readonly scope: 'tenant' | 'global'
  readonly shape: Shape<T>
  /** Whether the cache contains the values of the records, or only keys and sizes. */
  readonly cached: boolean
  /**
   * The platform keeps these records about the tenant, which did not write them. They are no part of `stored_bytes` and are
   * bounded in other ways (docs/design/store.md#size-bounds).
   */
  readonly isHistory?: true
}

/** A form of stored records: the member `v` of a record, and the first version of Holdfast that reads it. */
export interface RecordForm {
  readonly v: number
  readonly since: string
  /**
   * The form is not raised automatically, but by the first request that needs it: until then an operator can go back to an
   * older version.
   */
  readonly onDemand?: true
}

/** The forms that this server reads, in ascending order. */
export const FORMS: readonly RecordForm[] = [
  { v: 1, since: '0.1.0' },
  { v: 2, since: '0.2.0', onDemand: true },
]

/** The form of volumes, which an older server would delete with their tenant although nodes still have the data. */
export const VOLUME_FORM = 2

/**
 * The form of networks: an older server would delete them with their tenant although nodes still have them, and would
 * place deployments that name them on any node.
 */
export const NETWORK_FORM = 2

/**
 * The form of jobs: an older server would send their templates to agents that start the containers again, and would give
 * away volumes, networks and secrets that jobs use.
 */
export const JOB_FORM = 2

/** The form of deployments with a scaling policy: an older server would place the number of replicas in the spec. */
export const SCALING_FORM = 2

/** The form of a deployment with a canary: an older server would remove the canary's replicas as superfluous. */
export const CANARY_FORM = 2

/** The highest form in a list of forms. */
export const newestForm = (forms: readonly RecordForm[]): number => Math.max(...forms.map((form) => form.v))

/** The form of a stored record. A form that older servers cannot read has a higher number than all before it. */
export const v = integer({ minimum: 1 })

export const tenantCollection = <T>(folder: string, shape: Shape<T>, cached: boolean): Collection<T> => ({
  folder,
  scope: 'tenant',
  shape,
  cached,
})

/** Records that the platform keeps about a tenant. */
export const historyCollection = <T>(folder: string, shape: Shape<T>, cached: boolean): Collection<T> => ({
  ...tenantCollection(folder, shape, cached),
  isHistory: true,
})

export const globalCollection = <T>(folder: string, shape: Shape<T>): Collection<T> => ({
  folder,
  scope: 'global',
  shape,
  cached: true,
})
