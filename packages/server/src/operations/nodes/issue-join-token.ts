// POST /api/v1/nodes/join-tokens: issues a token with which one machine can enroll under one node name.

import {
  decode,
  type IssuedJoinToken,
  isJsonObject,
  type Json,
  newJoinTokenShape,
  type Rejection,
  type TenantId,
} from '@holdfast/contract'
import { isLabelValue, reject, tokensThatMay } from '@holdfast/core'
import { joinTokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { type Caller, type Outcome, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import { checkNodeName } from './check-node-name.ts'
import type { NodeDeps } from './deps.ts'
import { JOIN_TOKEN_MS, joinCommand, mintJoinToken } from './join-token.ts'

export interface JoinTokenDeps extends Pick<NodeDeps, 'store' | 'clock' | 'ids' | 'answers' | 'publicUrl'> {
  /**
   * The fingerprint of the root that agents must trust; undefined without TLS, or if the server does not know its root. Agents
   * without a pin trust the authorities of their machine.
   */
  caPin(): string | undefined
}

export async function issueJoinToken(
  { store, clock, ids, answers, publicUrl, caPin }: JoinTokenDeps,
  caller: Caller,
  sent: Json,
  kept: Kept<IssuedJoinToken>,
): Promise<Outcome<IssuedJoinToken>> {
  const faults = checkNewJoinToken(sent, caller)
  if (faults.length > 0) return refused(...faults)
  const { nodeName, residency = {}, controlPlane = false } = decode(newJoinTokenShape, sent)
  const { id, secretHash, text } = mintJoinToken(ids)
  const expiresAt = new Date(clock.now() + JOIN_TOKEN_MS).toISOString()
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const { tenant } = caller
    const record = { v: 1, tenant, nodeName, residency, controlPlane, secretHash, expiresAt }
    transaction.put(globally(joinTokens, id), record)
    for (const old of surplusTokens(store, tenant)) transaction.delete(globally(joinTokens, old))
    recordAudit(transaction, clock, caller, {
      action: 'join-tokens:issue',
      subject: { kind: 'Node', name: nodeName },
    })
    const command = joinCommand(publicUrl, nodeName, text, caPin())
    const issued = { nodeName, token: text, expiresAt, command }
    return keepOnce(answers, transaction, caller, kept, issued)
  })
}

/** The most unused join tokens of a tenant: far more than 15 minutes of enrollments need, and about 300 KiB in etcd. */
const MAX_UNUSED = 1_000
/** The most join tokens that one transaction deletes. */
const MAX_DROPPED = 100

/** The oldest join tokens, which are deleted to make room for a new one. Token ids sort by time. */
function surplusTokens(store: Pick<Store, 'listWithIds'>, tenant: TenantId): string[] {
  const own = store.listWithIds(joinTokens).filter(({ record }) => record.tenant === tenant)
  const ids = own.map(({ id }) => id).sort()
  return ids.slice(0, Math.min(MAX_DROPPED, Math.max(0, ids.length - MAX_UNUSED + 1)))
}

/** Checks the body of a new join token. Fields that the caller's role may not send are rejected first. */
function checkNewJoinToken(sent: Json, { role }: Caller): Rejection[] {
  const controlPlane = isJsonObject(sent) && sent.controlPlane === true
  return [
    ...(controlPlane && role !== 'platform-admin' ? [notForTenants()] : []),
    ...checkShape(newJoinTokenShape, sent, {
      checks: { nodeName: checkNodeName, residency: checkResidency },
    }),
  ]
}

function notForTenants(): Rejection {
  const accepted = tokensThatMay('control-plane-nodes:write')
  return reject('permission_denied', 'controlPlane', true, { accepted })
}

const COUNTRY = /^[A-Z]{2}$/

/** Checks residency values. They must be valid label values; their meaning is only known to the scheduler. */
function checkResidency(residency: Json): Rejection[] {
  const { country, region } = isJsonObject(residency) ? residency : {}
  return [
    ...(typeof country === 'string' && !COUNTRY.test(country)
      ? [invalid('country', country, 'two capital letters, for example DE')]
      : []),
    ...(typeof region === 'string' && (region === '' || !isLabelValue(region))
      ? [invalid('region', region, 'the name of a region: 1 to 253 printable ASCII characters')]
      : []),
  ]
}

const invalid = (field: string, value: Json, accepted: string): Rejection =>
  reject('field_type_invalid', `residency.${field}`, value, { accepted })
