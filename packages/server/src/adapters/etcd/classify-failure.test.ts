// Tests which failed etcd calls prove that nothing was applied, and which leave the outcome unknown.

import { status as Code } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { classifyFailure } from './classify-failure.ts'

test.each([
  [Code.INVALID_ARGUMENT, 'etcdserver: duplicate key given in txn request', 'invalid'],
  [Code.INVALID_ARGUMENT, 'etcdserver: too many operations in txn request', 'invalid'],
  [Code.INVALID_ARGUMENT, 'etcdserver: request is too large', 'too_large'],
  [Code.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (5000024 vs. 2097152)', 'too_large'],
  [Code.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
  [Code.OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision', 'invalid'],
  [Code.UNKNOWN, 'etcdserver: too many requests', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: no leader', 'unavailable'],
  [Code.FAILED_PRECONDITION, 'etcdserver: rpc not supported for learner', 'unavailable'],
  [Code.UNAUTHENTICATED, 'etcdserver: invalid auth token', 'unauthorized'],
  [Code.PERMISSION_DENIED, 'etcdserver: permission denied', 'unauthorized'],
  [Code.UNAVAILABLE, 'No connection established. Last error: connect ECONNREFUSED', 'unavailable'],
  [Code.UNAVAILABLE, 'Stream refused by server', 'unavailable'],
])('classifies %i %s as %s, not applied', (code, details, reason) => {
  expect(classifyFailure({ code, details })).toMatchObject({ reason, applied: 'no' })
})

test.each([
  [Code.DEADLINE_EXCEEDED, 'Deadline exceeded after 5.000s,remote_addr=127.0.0.1:2379', 'deadline'],
  [Code.DEADLINE_EXCEEDED, 'etcdserver: context deadline exceeded', 'deadline'],
  [Code.UNAVAILABLE, 'Connection dropped', 'unavailable'],
  [Code.UNAVAILABLE, 'read ECONNRESET', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: leader changed', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: server stopped', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: request timed out', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: request timed out, possibly due to previous leader failure', 'unavailable'],
  [Code.UNAVAILABLE, 'etcdserver: request timed out, possibly due to connection lost', 'unavailable'],
  [Code.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', 'no_space'],
  [Code.RESOURCE_EXHAUSTED, 'grpc: trying to send message larger than max (9 vs. 8)', 'unavailable'],
  [Code.RESOURCE_EXHAUSTED, 'Bandwidth exhausted or memory limit exceeded', 'unavailable'],
  [Code.INVALID_ARGUMENT, 'from a server other than etcd', 'unavailable'],
  [Code.CANCELLED, 'Call cancelled', 'unavailable'],
  [Code.INTERNAL, 'Received RST_STREAM with code 2', 'unavailable'],
  [Code.UNKNOWN, 'anything', 'unavailable'],
])('classifies %i %s as %s, outcome unknown', (code, details, reason) => {
  expect(classifyFailure({ code, details })).toMatchObject({ reason, applied: 'unknown' })
})

test.each([
  [Code.UNAUTHENTICATED, 'etcdserver: invalid auth token', 'fresh_token'],
  [Code.INVALID_ARGUMENT, 'etcdserver: revision of auth store is old', 'fresh_token'],
  [Code.UNAVAILABLE, 'etcdserver: no leader', 'another_member'],
  [Code.UNAVAILABLE, 'Connection dropped', 'another_member'],
  [Code.INVALID_ARGUMENT, 'etcdserver: duplicate key given in txn request', 'nowhere'],
  [Code.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', 'nowhere'],
])('after %i %s sends a repeatable request to %s', (code, details, next) => {
  expect(classifyFailure({ code, details }).next).toBe(next)
})
