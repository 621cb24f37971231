// What `get` needs to know of a kind of thing: how it is asked for and which columns it has. One file for each kind.

import type { Client, Result } from '@holdfast/client'
import type { Printed } from '../print/output.ts'

export interface Resource<T> extends Printed<T> {
  /** As it is typed: plural first, then what else it answers to. */
  readonly names: readonly [string, ...string[]]
  list(client: Client): Promise<Result<readonly T[]>>
  /** Absent where one thing cannot be asked for: then the list is searched by name. */
  read?(client: Client, name: string): Promise<Result<T>>
}
