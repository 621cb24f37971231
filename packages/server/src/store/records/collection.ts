// A collection of stored records: the folder of their keys and the shape of the records. The shape is the allow-list of
// the encoder (docs/design/store.md#records).

import { integer, type Shape } from '@holdfast/contract'

export interface Collection<T> {
  readonly folder: string
  readonly scope: 'tenant' | 'global'
  readonly shape: Shape<T>
  /** Whether the cache contains the values of the records, or only keys and sizes. */
  readonly cached: boolean
}

/** The format version of a stored record; a change of the stored format needs a new version. */
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
