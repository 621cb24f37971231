// Which decisions about a deployment are kept, and which of them was in force at a time. The id of a record says its number
// and its time, and the keys of a tenant are in memory, so that finding one needs no index and reading it one request.
// DECISIONS 1 (why), ADR 0031.

import type { Candidate, DeploymentUid, TenantId } from '@holdfast/contract'
import type { SizedKey } from '../../../store/cache/record-index.ts'
import { decisionParts, decisions, type StoredDecision } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

export interface DecisionId {
  readonly uid: string
  /** From 1, without gaps: where the first that is kept has another one, earlier ones were kept once. */
  readonly number: number
  /** In milliseconds since 1970; grows with the number. */
  readonly at: number
}

/** Of an id of either collection; a part has one more number behind. */
const ID = /^(?<uid>[^/]+)\/(?<number>\d{8,})-(?<at>\d{15})(?:\/\d+)?$/

export function decisionId({ uid, number, at }: DecisionId): string {
  return `${uid}/${String(number).padStart(8, '0')}-${String(at).padStart(15, '0')}`
}

export function readDecisionId(id: string): DecisionId | undefined {
  const { uid, number, at } = ID.exec(id)?.groups ?? {}
  return uid === undefined ? undefined : { uid, number: Number(number), at: Number(at) }
}

export interface KeptDecision extends DecisionId {
  readonly key: string
}

/** The oldest first. */
export function keptDecisions(
  store: Pick<Store, 'keysOf'>,
  tenant: TenantId,
  uid: DeploymentUid,
): KeptDecision[] {
  return store
    .keysOf(decisions, tenant)
    .filter(({ id }) => id.startsWith(`${uid}/`))
    .flatMap(placed)
    .sort((left, right) => left.number - right.number)
}

function placed({ id, key }: SizedKey): KeptDecision[] {
  const read = readDecisionId(id)
  return read === undefined ? [] : [{ ...read, key }]
}

export interface ReadDecision {
  readonly record: StoredDecision
  /** The whole matrix. */
  readonly candidates: readonly Candidate[]
}

/** Undefined where it was dropped, whole or in part, since its key was seen. */
export async function readDecision(
  store: Pick<Store, 'read' | 'keyspace'>,
  tenant: TenantId,
  { key }: KeptDecision,
): Promise<ReadDecision | undefined> {
  const [record] = await store.read(decisions, [key])
  if (record === undefined) return undefined
  const keys = (record.parts ?? []).map((id) => store.keyspace.tenantKey(tenant, decisionParts.folder, id))
  const parts = await store.read(decisionParts, keys)
  const whole = parts.flatMap((part) => part ?? [])
  if (whole.length < parts.length) return undefined
  return { record, candidates: [...whole.flatMap(({ candidates }) => candidates), ...record.candidates] }
}
