// The type of a resource kind for `get`: how to list its items and which columns to print. One file per kind.

import type { Client, Result } from '@holdfast/client'
import type { Printed } from '../print/output.ts'

export interface Resource<T> extends Printed<T> {
  /** The words for this kind that `get` accepts, plural first. */
  readonly names: readonly [string, ...string[]]
  list(client: Client): Promise<Result<readonly T[]>>
  /** Reads one item. Absent if the API can only list this kind: then the item is searched in the list by name. */
  read?(client: Client, name: string): Promise<Result<T>>
  /** Whether a typed name selects an item, for kinds of which one name selects several; absent: the name of the item. */
  selects?(item: T, name: string): boolean
}
