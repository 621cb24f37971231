// The interface of etcd's maintenance: defragmentation of a member and the alarm NOSPACE. A call that fails throws an
// EngineError; calls may be repeated.

import type { CallOptions } from './key-value.ts'

export interface EngineMaintenance {
  /** Reads from the member's own data. Throws if the member does not answer in time, as while it is defragmented. */
  probe(endpoint: string, options?: CallOptions): Promise<void>
  /** Rewrites the file of a member without its free pages. The member answers nothing in that time. */
  defragment(endpoint: string, options?: CallOptions): Promise<void>
  /** Clears the alarm NOSPACE of all members. */
  clearNoSpace(options?: CallOptions): Promise<void>
  close(): void
}
