// Lists and changes the members of etcd: implements ports/etcd-members.ts.

import type { EtcdMembers } from '../../ports/etcd-members.ts'
import { callWithFailover } from './call-with-failover.ts'
import { decodeMemberListResponse } from './codec/decode-members.ts'
import {
  encodeMemberAddRequest,
  encodeMemberListRequest,
  encodeMemberPromoteRequest,
  encodeMemberUpdateRequest,
} from './codec/encode-requests.ts'
import { type EtcdClientOptions, openCalls } from './create-etcd-client.ts'

const DEADLINE_MS = 5_000

export function createMemberClient(options: EtcdClientOptions): EtcdMembers {
  const deps = openCalls(options)
  const change = (name: string, bytes: Buffer): Promise<void> =>
    callWithFailover(deps, {
      method: `/etcdserverpb.Cluster/Member${name}`,
      bytes,
      decode: () => {},
      deadlineMs: DEADLINE_MS,
      repeatable: false,
      needsLeader: true,
    })
  return {
    list: ({ deadlineMs = DEADLINE_MS } = {}) =>
      callWithFailover(deps, {
        method: '/etcdserverpb.Cluster/MemberList',
        bytes: encodeMemberListRequest(),
        decode: decodeMemberListResponse,
        deadlineMs,
        repeatable: true,
        needsLeader: true,
      }),
    addLearner: (peerUrl) => change('Add', encodeMemberAddRequest(peerUrl)),
    promote: (id) => change('Promote', encodeMemberPromoteRequest(id)),
    changeAddress: (id, peerUrl) => change('Update', encodeMemberUpdateRequest(id, peerUrl)),
    close: () => deps.pool.close(),
  }
}
