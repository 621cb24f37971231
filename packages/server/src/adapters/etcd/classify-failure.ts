// Classifies a failed etcd call: the reason, whether the request may have been applied, and whether to ask another
// member. A wrong "not applied" loses an acknowledged write or writes it twice; a wrong "unknown" costs one read. So "not
// applied" is used only if etcd's message or the transport proves it (docs/design/store.md#unknown-outcomes).

import { status as Code, type StatusObject } from '@grpc/grpc-js'
import type { EngineError } from '../../ports/key-value.ts'

export interface Failure {
  readonly reason: EngineError['reason']
  readonly applied: EngineError['applied']
  /** Where to send the failed request next; `nowhere` if the answer would be the same or a retry could do harm. */
  readonly next: 'nowhere' | 'another_member' | 'fresh_token'
}

/** Errors, by exact text, that etcd returns before it proposes a request to the cluster or instead of applying it. */
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
  // NOTE the first etcd member to exceed its quota returns `database space exceeded` although it applies the transaction.
  'etcdserver: mvcc: database space exceeded': { reason: 'no_space', applied: 'unknown', next: 'nowhere' },
  'etcdserver: too many requests': { reason: 'unavailable', applied: 'no', next: 'nowhere' },
  // etcd returns `no leader` from the `hasleader` check, before it processes the request.
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

/** Classifies a failed call. The caller must check that the request is safe to repeat before it follows `next`. */
export function classifyFailure(failed: Pick<StatusObject, 'code' | 'details'>): Failure {
  const refusal = REFUSALS[failed.details]
  if (refusal) return refusal
  if (wasNeverSent(failed)) return NOT_SENT
  if (failed.code === Code.INVALID_ARGUMENT && failed.details.startsWith('etcdserver: ')) return INVALID
  if (failed.code === Code.RESOURCE_EXHAUSTED && isRefusedForSize(failed.details)) return TOO_LARGE
  if (failed.code === Code.DEADLINE_EXCEEDED) return TIMED_OUT
  return UNKNOWN
}

/** Recognizes a request above the receive limit of etcd's gRPC server, which drops it before any handler sees it. */
function isRefusedForSize(details: string): boolean {
  return details.startsWith('grpc: received message larger than max')
}

/**
 * Recognizes transport errors of a request that was never processed: there was no connection, or the peer refused the
 * HTTP/2 stream (RFC 9113 section 8.7). After a dropped connection the request may have been processed.
 */
function wasNeverSent(failed: Pick<StatusObject, 'code' | 'details'>): boolean {
  if (failed.code !== Code.UNAVAILABLE) return false
  return (
    failed.details.startsWith('No connection established') ||
    failed.details === 'Stream refused by server' ||
    failed.details === 'Channel closed before call started'
  )
}
