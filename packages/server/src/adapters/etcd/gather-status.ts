// Collects the status of each etcd member: size, alarms and whether it is the leader. Omits members that do not answer.

import type { EngineStatus } from '../../ports/key-value.ts'
import type { CallDeps } from './call-with-failover.ts'
import { decodeStatusResponse, type MemberStatus } from './codec/decode-responses.ts'
import type { Endpoint } from './endpoint-pool.ts'
import { metadataOf } from './metadata.ts'
import { callOnce } from './unary-call.ts'

const NOTHING = Buffer.alloc(0)

export async function gatherStatus(deps: CallDeps, timeoutMs: number): Promise<readonly EngineStatus[]> {
  const token = await deps.authenticator.token()
  const requests = deps.pool.endpoints.map((endpoint) => requestStatus(endpoint, token, timeoutMs))
  return (await Promise.all(requests)).filter((status) => status !== undefined)
}

async function requestStatus(
  endpoint: Endpoint,
  token: string | undefined,
  timeoutMs: number,
): Promise<EngineStatus | undefined> {
  const outcome = await callOnce(endpoint, {
    method: '/etcdserverpb.Maintenance/Status',
    bytes: NOTHING,
    metadata: metadataOf(token, false),
    timeoutMs,
    onSilence: () => {},
  })
  return outcome.ok ? describeMember(endpoint.name, decodeStatusResponse(outcome.bytes)) : undefined
}

function describeMember(endpoint: string, member: MemberStatus): EngineStatus {
  return {
    endpoint,
    revision: member.revision,
    dbSizeBytes: member.dbSizeBytes,
    dbSizeInUseBytes: member.dbSizeInUseBytes,
    leader: member.leaderId !== 0n && member.leaderId === member.memberId,
    alarms: member.errors.map((error) => /alarm:\s*(\w+)/.exec(error)?.[1] ?? error),
  }
}
