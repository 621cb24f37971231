// The interface of the key-value engine: the parts of etcd's KV, Watch and Maintenance APIs that the store uses. The etcd
// adapter and the in-memory engine of the simulation implement this interface and pass the same conformance suite.

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
}

/** A range of keys. `rangeEnd` is exclusive; without `rangeEnd` the range is `key` alone. */
export interface KeyRange {
  readonly key: string
  readonly rangeEnd?: string
}

export interface RangeRequest extends KeyRange {
  readonly limit?: number
  /** Revision to read at; absent for the newest revision. */
  readonly revision?: number
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
  /** True if one etcd member may answer without consulting the leader; the result may be stale. */
  readonly serializable?: boolean
}

export interface RangeResult {
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  readonly count: number
  /** The newest revision of the key-value engine at the time of the answer. */
  readonly revision: number
  /** Identifies the cluster that answered; absent if the engine has no such id. */
  readonly clusterId?: string
}

/** A condition of a transaction on a key. Version 0 means that the key is absent. */
export interface Compare extends KeyRange {
  readonly target: 'version' | 'modRevision' | 'createRevision'
  readonly is: 'equal' | 'notEqual' | 'less' | 'greater'
  readonly value: number
}

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: Uint8Array }
  | ({ readonly kind: 'delete' } & KeyRange)
  | ({ readonly kind: 'range' } & RangeRequest)
  | { readonly kind: 'transaction'; readonly transaction: TransactionRequest }

export interface TransactionRequest {
  readonly compares: readonly Compare[]
  readonly success: readonly Operation[]
  readonly failure: readonly Operation[]
}

export type OperationResult =
  | { readonly kind: 'put' }
  | { readonly kind: 'delete'; readonly deleted: number }
  | { readonly kind: 'range'; readonly range: RangeResult }
  | { readonly kind: 'transaction'; readonly transaction: TransactionResult }

export interface TransactionResult {
  readonly succeeded: boolean
  readonly revision: number
  readonly clusterId?: string
  readonly results: readonly OperationResult[]
}

export interface WatchEvent {
  readonly kind: 'put' | 'delete'
  /** The changed key. For a delete only `key` and `modRevision` are set. */
  readonly kv: KeyValue
}

export interface WatchRequest extends KeyRange {
  readonly startRevision: number
  /** Receives all events of one or more complete revisions, in order; `revision` is the last of these revisions. */
  onEvents(events: readonly WatchEvent[], revision: number): void
  /** Receives a bookmark: all events up to `revision` have been delivered. */
  onProgress(revision: number): void
  /** Called when the history after the start revision is compacted. The watch has ended; the caller must list again. */
  onCompacted(compactRevision: number): void
}

export interface Watch {
  /** Requests a bookmark (all events up to a revision are delivered), which arrives through onProgress. */
  requestProgress(): void
  close(): void
}

export interface EngineStatus {
  readonly endpoint: string
  readonly revision: number
  readonly dbSizeBytes: number
  readonly dbSizeInUseBytes: number
  readonly leader: boolean
  readonly alarms: readonly string[]
}

export interface CallOptions {
  readonly deadlineMs?: number
}

export interface CompactOptions extends CallOptions {
  /** Answer only after the compacted revisions are removed from the file; without it this happens in the background. */
  readonly physical?: boolean
}

export interface KeyValueEngine {
  range(request: RangeRequest, options?: CallOptions): Promise<RangeResult>
  transact(request: TransactionRequest, options?: CallOptions): Promise<TransactionResult>
  watch(request: WatchRequest): Watch
  compact(revision: number, options?: CompactOptions): Promise<void>
  /** Returns the status of each endpoint that answered. */
  status(options?: CallOptions): Promise<readonly EngineStatus[]>
  close(): void
}

/**
 * A failed call of the engine. `applied` is `unknown` if the request may have taken effect, as after a lost connection or
 * a deadline; the caller must then read the keys. See docs/design/store.md#unknown-outcomes.
 */
export class EngineError extends Error {
  readonly reason:
    | 'unavailable'
    | 'deadline'
    | 'invalid'
    | 'too_large'
    | 'compacted'
    | 'no_space'
    | 'unauthorized'
  readonly applied: 'no' | 'unknown'

  constructor(reason: EngineError['reason'], applied: EngineError['applied'], message: string) {
    super(message)
    this.name = 'EngineError'
    this.reason = reason
    this.applied = applied
  }
}
