// What the store asks of its engine: etcd's KV, Watch and Maintenance in the few forms that we use. The etcd adapter
// implements it; so will the simulator's in-memory twin, held against the same conformance suite.

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
}

/** `rangeEnd` is exclusive; absent, the request is for `key` alone. */
export interface KeyRange {
  readonly key: string
  readonly rangeEnd?: string
}

export interface RangeRequest extends KeyRange {
  readonly limit?: number
  /** Read at this revision; absent: the newest. */
  readonly revision?: number
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
  /** Answered by the member asked, without consulting the leader: may be stale. */
  readonly serializable?: boolean
}

export interface RangeResult {
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  readonly count: number
  /** Of the store when it answered. */
  readonly revision: number
}

/** `equal` on a revision or version; version 0 says that the key is absent. */
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
  readonly results: readonly OperationResult[]
}

export interface WatchEvent {
  readonly kind: 'put' | 'delete'
  /** Of a delete only key and modRevision are meaningful. */
  readonly kv: KeyValue
}

export interface WatchRequest extends KeyRange {
  readonly startRevision: number
  /** All events of one or more whole revisions, in order; `revision` is the last one that is complete with this batch. */
  onEvents(events: readonly WatchEvent[], revision: number): void
  /** Nothing happened up to this revision: a bookmark for those who wait for one. */
  onProgress(revision: number): void
  /** The history from the start revision is gone; the watch has ended and the caller must list anew. */
  onCompacted(compactRevision: number): void
}

export interface Watch {
  /** Asks for a bookmark now; it arrives by onProgress. */
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

export interface KeyValueEngine {
  range(request: RangeRequest, options?: CallOptions): Promise<RangeResult>
  transact(request: TransactionRequest, options?: CallOptions): Promise<TransactionResult>
  watch(request: WatchRequest): Watch
  compact(revision: number, options?: CallOptions): Promise<void>
  /** One entry for each endpoint that answered. */
  status(options?: CallOptions): Promise<readonly EngineStatus[]>
  close(): void
}

/**
 * Why a call gave no result. `applied` says whether the request may have taken effect: a refused one has not; after a
 * lost connection or a deadline nobody knows, and the caller must read back (SAFETY 4a).
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
