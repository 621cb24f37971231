// Defragments members of etcd and clears the alarm NOSPACE: implements ports/engine-maintenance.ts.

import type { EngineMaintenance } from '../../../ports/engine-maintenance.ts'
import { EngineError } from '../../../ports/key-value.ts'
import { type CallDeps, callWithFailover } from '../call-with-failover.ts'
import { classifyFailure } from '../classify-failure.ts'
import {
  encodeAlarmListRequest,
  encodeClearNoSpaceRequest,
  encodeRangeRequest,
} from '../codec/encode-requests.ts'
import { type EtcdClientOptions, openCalls } from '../create-etcd-client.ts'
import { metadataOf } from '../metadata.ts'
import { callOnce } from '../unary-call.ts'
import { decodeNoSpaceMembers } from './decode-alarms.ts'

const DEADLINE_MS = 5_000
/** A key that no store has: its read costs nothing, and the member must read its data to answer. */
const NO_KEY = encodeRangeRequest({ key: '/', serializable: true, keysOnly: true, limit: 1 })
const NOTHING = Buffer.alloc(0)

export function createMaintenance(options: EtcdClientOptions): EngineMaintenance {
  const deps = openCalls(options)
  const alarm = <T>(bytes: Buffer, decode: (bytes: Buffer) => T, deadlineMs: number): Promise<T> =>
    callWithFailover(deps, {
      method: '/etcdserverpb.Maintenance/Alarm',
      bytes,
      decode,
      deadlineMs,
      repeatable: true,
      needsLeader: true,
    })
  return {
    probe: (endpoint, { deadlineMs = DEADLINE_MS } = {}) =>
      callMember(deps, endpoint, { method: '/etcdserverpb.KV/Range', bytes: NO_KEY, timeoutMs: deadlineMs }),
    defragment: (endpoint, { deadlineMs = DEADLINE_MS } = {}) =>
      callMember(deps, endpoint, {
        method: '/etcdserverpb.Maintenance/Defragment',
        bytes: NOTHING,
        timeoutMs: deadlineMs,
      }),
    async clearNoSpace({ deadlineMs = DEADLINE_MS } = {}) {
      const members = await alarm(encodeAlarmListRequest(), decodeNoSpaceMembers, deadlineMs)
      for (const id of members) await alarm(encodeClearNoSpaceRequest(id), () => {}, deadlineMs)
    },
    close: () => deps.pool.close(),
  }
}

interface MemberCall {
  readonly method: string
  readonly bytes: Buffer
  readonly timeoutMs: number
}

/** Calls one member and no other, because another one would answer for itself. */
async function callMember({ pool, authenticator }: CallDeps, name: string, call: MemberCall): Promise<void> {
  const endpoint = pool.endpoints.find((one) => one.name === name)
  if (endpoint === undefined) throw new TypeError(`etcd: ${name} is not configured`)
  const metadata = metadataOf(await authenticator.token(), false)
  const outcome = await callOnce(endpoint, { ...call, metadata, onSilence: () => {} })
  if (outcome.ok) return
  const { reason, applied } = classifyFailure(outcome.failed)
  throw new EngineError(reason, applied, `${name}: ${outcome.failed.details}`)
}
