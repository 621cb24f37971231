// What does a failed call mean: why did it fail, can the request have taken effect, and may another member be asked?
// SAFETY 4a rests on this table: a wrong "no" loses an acknowledged write or writes it twice, a wrong "unknown" costs
// one read. So "no" is said only where etcd's own words, or the transport, prove that nothing was or will be applied.

import { status as Code, type StatusObject } from '@grpc/grpc-js'
import type { EngineError } from '../../ports/key-value.ts'

export interface Failure {
  readonly reason: EngineError['reason']
  readonly applied: EngineError['applied']
  /** Where the same request may go next; `nowhere` when the answer would be the same or harm could be done. */
  readonly next: 'nowhere' | 'another_member' | 'fresh_token'
}

/** Answers that etcd gives before it proposes a request, or instead of applying it. Keyed by its exact words. */
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
  // NOTE the member that is the first to pass its quota applies the transaction and answers this all the same.
  'etcdserver: mvcc: database space exceeded': { reason: 'no_space', applied: 'unknown', next: 'nowhere' },
  'etcdserver: too many requests': { reason: 'unavailable', applied: 'no', next: 'nowhere' },
  // Said by the check that `hasleader` asks for, before the request is looked at.
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

/** Pure. `next` says where a request that may be repeated can go; whether it may is the caller's to know. */
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
 * The transport's own words for a call that never became a request: no connection could be made, or the HTTP/2 peer
 * refused the stream, which by RFC 9113 8.7 promises that it was not processed. A dropped connection is neither.
 */
function wasNeverSent(failed: Pick<StatusObject, 'code' | 'details'>): boolean {
  if (failed.code !== Code.UNAVAILABLE) return false
  return (
    failed.details.startsWith('No connection established') ||
    failed.details === 'Stream refused by server' ||
    failed.details === 'Channel closed before call started'
  )
}
