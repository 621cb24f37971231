// POST /api/v1/nodes/enroll: a machine becomes a node. One transaction consumes the join token, creates the node and claims its
// name, so a token creates one node and a name has one owner (docs/design/agent.md#enrollment).

import {
  asNodeId,
  asTokenId,
  decode,
  defined,
  type Enrolled,
  type Enrollment,
  engineWarnings,
  enrollmentShape,
  type Json,
  type NodeId,
  type TenantId,
} from '@holdfast/contract'
import { checkQuotas, reject } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, type HeldSlot, holdSlot } from '../../quotas/hold-slot.ts'
import { joinTokens, nodes, pools, type StoredNode, tenants } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { type AttestedLabels, attestLabels, markOf } from './attest-labels.ts'
import { checkEnrollment } from './check-enrollment.ts'
import { type Claim, claimName, claimOf, readClaims, writeClaims } from './claims.ts'
import type { NodeDeps } from './deps.ts'
import { isValidJoinToken, type PresentedToken, readJoinToken, type StoredJoinToken } from './join-token.ts'
import { enrolledEvent, labelsRefusedEvent } from './node-events.ts'

const KIND = 'nodes'

export async function enrollNode(deps: NodeDeps, sent: Json, requestId: string): Promise<Outcome<Enrolled>> {
  const faults = checkEnrollment(sent)
  if (faults.length > 0) return refused(...faults)
  const enrollment = decode(enrollmentShape, sent)
  const presented = readJoinToken(enrollment.joinToken)
  const tenant = presented && (await tenantOf(deps, presented))
  if (presented === undefined || tenant === undefined) return invalidToken()
  const held = holdSlot(deps, tenant, KIND)
  try {
    return await deps.store.transact((transaction) =>
      decideEnrollment(deps, transaction, { enrollment, presented, held, requestId }),
    )
  } finally {
    held.release()
  }
}

/** The tenant whose quota applies to an enrollment, looked up before the secret half of the token is checked. */
async function tenantOf({ store }: NodeDeps, { id }: PresentedToken): Promise<TenantId | undefined> {
  const find = () => store.get(globally(joinTokens, id))?.record.tenant
  if (find() === undefined) await store.fresh()
  return find()
}

const invalidToken = () => refused(reject('join_token_invalid', 'joinToken', undefined, {}, '<redacted>'))

interface EnrollRequest {
  readonly enrollment: Enrollment
  readonly presented: PresentedToken
  readonly held: HeldSlot
  readonly requestId: string
}

function decideEnrollment(
  deps: NodeDeps,
  transaction: Transaction,
  request: EnrollRequest,
): TransactionDecision<Outcome<Enrolled>> {
  const { enrollment, presented, held } = request
  const token = transaction.get(globally(joinTokens, presented.id))
  if (
    !isValidJoinToken(token, presented, enrollment.nodeName, deps.clock.now()) ||
    !acceptsNodes(transaction, token)
  )
    return { kind: 'abort', result: invalidToken() }
  const before = readClaims(transaction, enrollment.nodeName)
  const own = claimOf(before, token.tenant)
  const nodeId = own?.nodeId ?? asNodeId(`node_${deps.ids.ulid()}`)
  const claims = claimName(before, token.tenant, nodeId)
  if (claims === undefined) {
    const rejection = reject('node_owned_by_another_tenant', 'nodeName', enrollment.nodeName)
    return { kind: 'abort', result: refused(rejection) }
  }
  const known = own && transaction.get(inTenant(token.tenant, nodes, nodeId))
  const room = known === undefined ? claimRoom(deps, transaction, token.tenant, held, nodeId) : known.slot
  if (typeof room !== 'number') return room
  const labels = attestLabels(enrollment.labels ?? {}, token.residency)
  const node = nodeFrom(deps, { enrollment, token, labels, nodeId, known, slot: room, own })
  storeNode(deps, transaction, request, { token, claims, node, labels })
  const warnings = engineWarnings(node.engine.version)
  const enrolled = { nodeId, tenant: token.tenant, generation: node.generation }
  return { kind: 'commit', result: done(warnings.length === 0 ? enrolled : { ...enrolled, warnings }) }
}

/** Whether the tenant accepts nodes; a tenant that is being deleted does not. */
function acceptsNodes(transaction: Transaction, { tenant }: StoredJoinToken): boolean {
  return transaction.get(globally(tenants, tenant))?.deleting === false
}

/** Claims the quota slot of a new node; a machine that enrolls again keeps the slot it has. */
function claimRoom(
  { quotas, slots: allocator, store: { storedBytes } }: NodeDeps,
  transaction: Transaction,
  tenant: TenantId,
  held: HeldSlot,
  nodeId: NodeId,
): number | TransactionDecision<Outcome<Enrolled>> {
  const slot = held.choose()
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const [limit, bytes] = [quotas.limit(tenant, KIND), quotas.limit(tenant, 'stored_bytes')]
  const used = slot.kind === 'full' ? Math.max(allocator.used(tenant, KIND), limit) : 0
  const full = checkQuotas([
    { kind: KIND, used, requested: slot.kind === 'full' ? 1 : 0, limit },
    { kind: 'stored_bytes', used: storedBytes(tenant), requested: RECORD_BYTES, limit: bytes },
  ])
  if (slot.kind === 'full' || full.length > 0) return { kind: 'abort', result: refused(...full) }
  claimSlot(transaction, tenant, KIND, slot.slot, nodeId)
  return slot.slot
}

/** Approximate size in bytes of a node's record with its events and audit entry. */
const RECORD_BYTES = 4096

interface NodeParts {
  readonly enrollment: Enrollment
  readonly token: StoredJoinToken
  readonly nodeId: NodeId
  readonly labels: AttestedLabels
  readonly known: StoredNode | undefined
  readonly slot: number
  readonly own: Claim | undefined
}

/**
 * The record of an enrolled node. A machine that enrolls again keeps its id and settings; the new generation and epoch
 * invalidate its old key and session. Only a platform administrator can clear its control-plane mark.
 */
function nodeFrom({ clock }: NodeDeps, parts: NodeParts): StoredNode {
  const { enrollment, token, labels, nodeId, known, slot, own } = parts
  const now = timestamp(clock)
  const refusedMark = markOf(labels.refused)
  const { publicKey, encryptionKey, capacity, engine } = enrollment
  const {
    peerAddress: _address,
    secureRouter: _router,
    refusedMark: _mark,
    storage: _storage,
    poolId: _pool,
    degraded: _degraded,
    health: _health,
    disks: _disks,
    hold: _hold,
    draining,
    ...kept
  } = known ?? { v: 1 }
  return {
    ...kept,
    id: nodeId,
    name: enrollment.nodeName,
    generation: (known?.generation ?? 0) + 1,
    publicKey,
    encryptionKey,
    capacity,
    engine,
    labels: labels.labels,
    attested: token.residency,
    ...defined({ refusedMark }),
    controlPlane: token.controlPlane || known?.controlPlane === true,
    // Releasing a node cordons the node; enrolling the node again ends both the release and the cordon.
    schedulable: own?.state === 'releasing' || (known?.schedulable ?? true),
    ...(draining === true && own?.state !== 'releasing' ? { draining: true } : {}),
    status: 'pending',
    statusSince: now,
    session: { replica: null, epoch: (known?.session.epoch ?? 0) + 1, bootId: '' },
    createdAt: known?.createdAt ?? now,
    slot,
  }
}

interface EnrolledNode {
  readonly token: StoredJoinToken
  readonly claims: readonly Claim[]
  readonly node: StoredNode
  readonly labels: AttestedLabels
}

function storeNode(
  { clock }: NodeDeps,
  transaction: Transaction,
  { presented, requestId }: EnrollRequest,
  { token, claims, node, labels: { refused: unattested } }: EnrolledNode,
): void {
  transaction.delete(globally(joinTokens, presented.id))
  transaction.put(inTenant(token.tenant, nodes, node.id), node)
  // The machine may have another pool now; its agent reports what the pool holds.
  transaction.delete(inTenant(token.tenant, pools, node.id))
  writeClaims(transaction, node.name, claims)
  recordEvent(transaction, clock, token.tenant, enrolledEvent(node))
  if (unattested.length > 0)
    recordEvent(transaction, clock, token.tenant, labelsRefusedEvent(node, unattested))
  recordAudit(transaction, clock, joiner(token, presented, requestId), {
    action: 'nodes:enrolled',
    subject: { kind: 'Node', name: node.name },
    revision: node.generation,
  })
}

/** The caller for the audit entry: no API token made this request, so the entry names the join token. */
function joiner(
  { tenant, controlPlane }: StoredJoinToken,
  { id }: PresentedToken,
  requestId: string,
): Caller {
  const role = controlPlane ? 'platform-admin' : 'tenant-admin'
  return { tenant, token: asTokenId(`join_${id}`), role, onBehalf: false, requestId }
}
