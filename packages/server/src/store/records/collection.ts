// A collection of stored records: where its keys are and which shape its records have. The shape is the allow-list of the
// encoder (docs/design/store.md#records).

import { integer, type Shape } from '@holdfast/contract'

export interface Collection<T> {
  readonly folder: string
  readonly scope: 'tenant' | 'global'
  readonly shape: Shape<T>
  /** Whether the cache holds the values, or only keys and sizes. */
  readonly cached: boolean
}

/** The version of a record's form; a stored form changes only with it. */
export const v = integer({ minimum: 1 })

export const tenantCollection = <T>(folder: string, shape: Shape<T>, cached: boolean): Collection<T> => ({
  folder,
  scope: 'tenant',
  shape,
  cached,
})

export const globalCollection = <T>(folder: string, shape: Shape<T>): Collection<T> => ({
  folder,
  scope: 'global',
  shape,
  cached: true,
})
