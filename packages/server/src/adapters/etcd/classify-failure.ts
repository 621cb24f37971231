// Classifies a failed call: why it failed, whether the request may have been applied, and whether another member may be asked.
// A wrong "no" loses an acknowledged write or writes it twice; a wrong "unknown" costs one read. So "no" is used only where
// etcd's message or the transport proves that nothing was or will be applied (docs/design/store.md#unknown-outcomes).

import { status as Code, type StatusObject } from '@grpc/grpc-js'
import type { EngineError } from '../../ports/key-value.ts'

export interface Failure {
  readonly reason: EngineError['reason']
  readonly applied: EngineError['applied']
  /** The next step for the same request; `nowhere` if the answer would be the same or a retry could do harm. */
  readonly next: 'nowhere' | 'another_member' | 'fresh_token'
}

/** Errors that etcd returns before it proposes a request or instead of applying it, by their exact text. */
const REFUSALS: Readonly<Record<string, Failure>> = {
  'etcdserver: request is too large': { reason: 'too_large', applied: 'no', next: 'nowhere' },
  'etcdserver: mvcc: required revision has been compacted': {
    reason: 'compacted',
    applied: 'no',
    next: 'nowhere',
  },
  'etcdserver: mvcc: required revision is a future revision': {
    reason: 'invalid',
    applied: 'no',
    next: 'nowhere',
  },
  // NOTE the first member to exceed its quota applies the transaction and still returns this error.
  'etcdserver: mvcc: database space exceeded': { reason: 'no_space', applied: 'unknown', next: 'nowhere' },
  'etcdserver: too many requests': { reason: 'unavailable', applied: 'no', next: 'nowhere' },
  // Returned by the `hasleader` check, before the request is processed.
  'etcdserver: no leader': { reason: 'unavailable', applied: 'no', next: 'another_member' },
  'etcdserver: rpc not supported for learner': {
    reason: 'unavailable',
    applied: 'no',
    next: 'another_member',
  },
  'etcdserver: not capable': { reason: 'unavailable', applied: 'no', next: 'another_member' },
  'etcdserver: corrupt cluster': { reason: 'unavailable', applied: 'no', next: 'nowhere' },
  'etcdserver: invalid auth token': { reason: 'unauthorized', applied: 'no', next: 'fresh_token' },
  'etcdserver: revision of auth store is old': {
    reason: 'unauthorized',
    applied: 'no',
    next: 'fresh_token',
  },
  'etcdserver: permission denied': { reason: 'unauthorized', applied: 'no', next: 'nowhere' },
  'etcdserver: user name is empty': { reason: 'unauthorized', applied: 'no', next: 'nowhere' },
  'etcdserver: authentication is not enabled': { reason: 'unauthorized', applied: 'no', next: 'nowhere' },
  'etcdserver: authentication failed, invalid user ID or password': {
    reason: 'unauthorized',
    applied: 'no',
    next: 'nowhere',
  },
}

const NOT_SENT: Failure = { reason: 'unavailable', applied: 'no', next: 'another_member' }
const INVALID: Failure = { reason: 'invalid', applied: 'no', next: 'nowhere' }
const TOO_LARGE: Failure = { reason: 'too_large', applied: 'no', next: 'nowhere' }
const TIMED_OUT: Failure = { reason: 'deadline', applied: 'unknown', next: 'another_member' }
const UNKNOWN: Failure = { reason: 'unavailable', applied: 'unknown', next: 'another_member' }

/** `next` applies only to a request that may be repeated, which the caller must know. */
export function classifyFailure(failed: Pick<StatusObject, 'code' | 'details'>): Failure {
  const refusal = REFUSALS[failed.details]
  if (refusal) return refusal
  if (wasNeverSent(failed)) return NOT_SENT
  if (failed.code === Code.INVALID_ARGUMENT && failed.details.startsWith('etcdserver: ')) return INVALID
  if (failed.code === Code.RESOURCE_EXHAUSTED && isRefusedForSize(failed.details)) return TOO_LARGE
  if (failed.code === Code.DEADLINE_EXCEEDED) return TIMED_OUT
  return UNKNOWN
}

/** etcd's gRPC server drops a request above its receive limit before any handler sees it. */
function isRefusedForSize(details: string): boolean {
  return details.startsWith('grpc: received message larger than max')
}

/**
 * Recognizes the transport's errors for a request that was never sent: no connection, or an HTTP/2 stream that the peer
 * refused, which by RFC 9113 section 8.7 means that it was not processed. A dropped connection is neither.
 */
function wasNeverSent(failed: Pick<StatusObject, 'code' | 'details'>): boolean {
  if (failed.code !== Code.UNAVAILABLE) return false
  return (
    failed.details.startsWith('No connection established') ||
    failed.details === 'Stream refused by server' ||
    failed.details === 'Channel closed before call started'
  )
}
