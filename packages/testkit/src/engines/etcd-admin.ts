// The etcd calls that tests need to start and replace members, over etcd's JSON gateway. The product's etcd client is
// under test, so tests do not prepare etcd with it.

import { callJson, listMember, member, textMember } from '../http-json.ts'

/** True once a quorum has confirmed a read at this endpoint, so the etcd member is in a working cluster. */
export async function answersLinearizableRead(endpoint: string, timeoutMs = 1_000): Promise<boolean> {
  await callJson(`${endpoint}/v3/kv/range`, { body: { key: 'AA==' }, timeoutMs })
  return true
}

export interface EtcdStatus {
  readonly memberId: string
  /** Id of the cluster's leader; '0' if the cluster has no leader. */
  readonly leaderId: string
  readonly dbSizeBytes: number
}

export async function readEtcdStatus(endpoint: string, timeoutMs = 1_000): Promise<EtcdStatus> {
  const status = await callJson(`${endpoint}/v3/maintenance/status`, { body: {}, timeoutMs })
  return {
    memberId: textMember(member(status, 'header'), 'member_id'),
    leaderId: String(member(status, 'leader') ?? '0'),
    dbSizeBytes: Number(member(status, 'dbSize') ?? 0),
  }
}

/** Removes the named member. True once the cluster no longer has a member of this name; safe to repeat. */
export async function removeEtcdMember(endpoint: string, name: string): Promise<boolean> {
  const found = (await listEtcdMembers(endpoint)).find((entry) => member(entry, 'name') === name)
  if (found === undefined) return true
  await callJson(`${endpoint}/v3/cluster/member/remove`, { body: { ID: textMember(found, 'ID') } })
  return true
}

/** Adds a member. True once the cluster expects a member at this address; safe to repeat. */
export async function addEtcdMember(endpoint: string, peerUrl: string): Promise<boolean> {
  const known = (await listEtcdMembers(endpoint)).flatMap((entry) => listMember(entry, 'peerURLs'))
  if (known.includes(peerUrl)) return true
  await callJson(`${endpoint}/v3/cluster/member/add`, { body: { peerURLs: [peerUrl] } })
  return true
}

async function listEtcdMembers(endpoint: string): Promise<readonly unknown[]> {
  return listMember(await callJson(`${endpoint}/v3/cluster/member/list`, { body: {} }), 'members')
}
