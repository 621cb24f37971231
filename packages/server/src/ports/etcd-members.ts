// The interface of etcd's membership: setup adds machines, and the doctor lists them.

import type { CallOptions } from './key-value.ts'

export interface EtcdMember {
  readonly id: bigint
  /** Empty while the member was added and has not started. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  /** A learner receives all data and has no vote. */
  readonly isLearner: boolean
}

/** A call that fails throws an EngineError; calls may be repeated. */
export interface EtcdMembers {
  list(options?: CallOptions): Promise<readonly EtcdMember[]>
  addLearner(peerUrl: string): Promise<void>
  /** etcd refuses until the learner has almost all data. */
  promote(id: bigint): Promise<void>
  changeAddress(id: bigint, peerUrl: string): Promise<void>
  close(): void
}
