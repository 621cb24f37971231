// Finds and reads recorded placement decisions (docs/design/placement.md#decision-records). The id of a record contains
// the decision's number and time, and all ids are cached: finding a decision needs no store request, reading one does.

import { asOwner, type Candidate, type Owner, type TenantId } from '@holdfast/contract'
import type { SizedKey } from '../../../store/cache/record-index.ts'
import { decisionParts, decisions, type StoredDecision } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

export interface DecisionId {
  readonly owner: Owner
  /**
   * Decisions are numbered from 1 without gaps. If the first kept decision is not number 1, retention dropped earlier
   * ones.
   */
  readonly number: number
  /** Time of the decision in milliseconds since 1970; it increases with the number. */
  readonly at: number
}

/** Matches the ids of decisions and of their parts; the id of a part has one more number at the end. */
const ID = /^(?<owner>[^/]+\/[^/]+)\/(?<number>\d{8,})-(?<at>\d{15})(?:\/\d+)?$/

export function decisionId({ owner, number, at }: DecisionId): string {
  return `${owner}/${String(number).padStart(8, '0')}-${String(at).padStart(15, '0')}`
}

export function readDecisionId(id: string): DecisionId | undefined {
  const { owner, number, at } = ID.exec(id)?.groups ?? {}
  return owner === undefined ? undefined : { owner: asOwner(owner), number: Number(number), at: Number(at) }
}

export interface KeptDecision extends DecisionId {
  readonly key: string
}

/** The recorded placement decisions of a deployment that retention has kept, oldest first. */
export function keptDecisions(store: Pick<Store, 'keysOf'>, tenant: TenantId, owner: Owner): KeptDecision[] {
  return store
    .keysOf(decisions, tenant)
    .filter(({ id }) => id.startsWith(`${owner}/`))
    .flatMap(readKept)
    .sort((left, right) => left.number - right.number)
}

function readKept({ id, key }: SizedKey): KeptDecision[] {
  const read = readDecisionId(id)
  return read === undefined ? [] : [{ ...read, key }]
}

export interface ReadDecision {
  readonly record: StoredDecision
  /** The candidate nodes of the decision that are stored each; empty if it has groups. */
  readonly candidates: readonly Candidate[]
}

/** Reads one decision; undefined if retention has dropped it, or a part of it, since its key was read. */
export async function readDecision(
  store: Pick<Store, 'read' | 'keyspace'>,
  tenant: TenantId,
  { key }: KeptDecision,
): Promise<ReadDecision | undefined> {
  const [record] = await store.read(decisions, [key])
  if (record === undefined) return undefined
  const keys = (record.parts ?? []).map((id) => store.keyspace.tenantKey(tenant, decisionParts.folder, id))
  const parts = await store.read(decisionParts, keys)
  const found = parts.flatMap((part) => part ?? [])
  if (found.length < parts.length) return undefined
  return { record, candidates: [...found.flatMap(({ candidates }) => candidates), ...record.candidates] }
}
