// The type of a resource kind for `get`: how to list it and which columns to print. One file per kind.

import type { Client, Result } from '@holdfast/client'
import type { Printed } from '../print/output.ts'

export interface Resource<T> extends Printed<T> {
  /** The words that `get` accepts, plural first. */
  readonly names: readonly [string, ...string[]]
  list(client: Client): Promise<Result<readonly T[]>>
  /** Absent if the API cannot read one item: then the list is searched by name. */
  read?(client: Client, name: string): Promise<Result<T>>
}
