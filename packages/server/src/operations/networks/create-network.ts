// POST /networks: one transaction claims the name and a quota slot and stores the network. The agent of its node then
// creates it.

import { asNetworkId, type Json, type NodeId, type TenantId, type WrittenNetwork } from '@holdfast/contract'
import {
  checkNetwork,
  checkQuotas,
  chooseNetworkNode,
  type QuotaFact,
  reject,
  type SentNetwork,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, type HeldSlot, holdSlot } from '../../quotas/hold-slot.ts'
import type { SlotChoice } from '../../quotas/slots.ts'
import { NETWORK_FORM } from '../../store/records/collection.ts'
import { networkNames, networks, nodes, type StoredNetwork } from '../../store/records.ts'
import { StoreUnavailableError, type TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, type Refused, refused, refusedBy } from '../caller.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { type HasForm, RAISE_FORM, writeInForm } from '../write-in-form.ts'
import type { NetworkDeps } from './deps.ts'
import { networkCreatedEvent } from './network-events.ts'
import { networkView } from './network-view.ts'

const KIND = 'networks'

export async function createNetwork(
  deps: NetworkDeps,
  caller: Caller,
  body: Json,
  kept: Kept<WrittenNetwork>,
): Promise<Outcome<WrittenNetwork>> {
  const checked = checkNetwork(body, caller.tenant, deps.admission)
  if (!checked.ok) return refused(...checked.rejections)
  const unreadable = await checkNodesReadable(deps, checked.value.nodeId)
  if (unreadable !== undefined) return unreadable
  const held = holdSlot(deps, caller.tenant, KIND)
  try {
    return await writeInForm(deps.store, { v: NETWORK_FORM, of: 'networks' }, (hasForm) =>
      deps.store.transact((transaction) =>
        decideCreate(deps, transaction, { caller, sent: checked.value, held, kept, hasForm }),
      ),
    )
  } finally {
    held.release()
  }
}

/** If the nodes cannot be read, rejects the write with a specific code instead of `store_unavailable`. */
async function checkNodesReadable(
  { store }: Pick<NetworkDeps, 'store'>,
  nodeId: string | undefined,
): Promise<Refused | undefined> {
  try {
    await store.fresh()
    return undefined
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    return unresolvable(nodeId)
  }
}

const unresolvable = (nodeId: string | undefined): Refused =>
  refusedBy({
    rejections: [reject('network_node_candidates_unresolvable', 'nodeId', nodeId)],
    alternative: true,
  })

interface CreateRequest {
  readonly caller: Caller
  readonly sent: SentNetwork
  readonly held: HeldSlot
  readonly kept: Kept<WrittenNetwork>
  readonly hasForm: HasForm
}

function decideCreate(
  deps: NetworkDeps,
  transaction: Transaction,
  { caller, sent, held, kept, hasForm }: CreateRequest,
): TransactionDecision<Outcome<WrittenNetwork> | typeof RAISE_FORM> {
  const { store, clock, answers } = deps
  const { tenant } = caller
  const slot = held.choose()
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const judged = judge(deps, transaction, tenant, sent, slot)
  if (slot.kind === 'full' || !judged.ok) return { kind: 'abort', result: judged.ok ? refused() : judged }
  if (!hasForm(transaction)) return { kind: 'abort', result: RAISE_FORM }
  const { node, alterations } = judged.value
  const network: StoredNetwork = {
    v: NETWORK_FORM,
    id: asNetworkId(`net_${deps.ids.ulid()}`),
    options: sent.options,
    nodeId: node.id,
    nodeName: node.name,
    ...{ phase: 'Pending', reason: null, desired: 'present' },
    revision: 1,
    createdAt: timestamp(clock),
    slot: slot.slot,
  }
  stageNew(deps, transaction, caller, network)
  const written = { network: networkView(store, tenant, network), alterations, warnings: [] }
  return keepOnce(answers, transaction, caller, kept, written)
}

function stageNew(
  { clock }: NetworkDeps,
  transaction: Transaction,
  caller: Caller,
  network: StoredNetwork,
): void {
  const { tenant } = caller
  const { id, options, slot } = network
  claimSlot(transaction, tenant, KIND, slot, id)
  transaction.put(inTenant(tenant, networkNames, options.name), { v: 1, id })
  transaction.put(inTenant(tenant, networks, id), network)
  recordEvent(transaction, clock, tenant, networkCreatedEvent(network))
  const subject = { kind: 'Network', name: options.name }
  recordAudit(transaction, clock, caller, { action: 'networks:create', subject, revision: 1 })
}

interface Judged {
  readonly node: { readonly id: NodeId; readonly name: string }
  readonly alterations: WrittenNetwork['alterations']
}

/** Judges the rules that need the stored records, all of them: name, node, quota. */
function judge(
  deps: NetworkDeps,
  transaction: Transaction,
  tenant: TenantId,
  { options, nodeId, alterations }: SentNetwork,
  slot: SlotChoice,
): Outcome<Judged> {
  const { store } = deps
  const known = store.list(nodes, tenant).map(({ record }) => record)
  if (known.length < store.keysOf(nodes, tenant).length) return unresolvable(nodeId)
  const chosen = chooseNetworkNode(nodeId, known)
  // The record is compared at commit, so a node that is cordoned or removed at the same moment gets no network.
  const node = chosen.ok ? transaction.get(inTenant(tenant, nodes, chosen.nodeId)) : undefined
  const isTaken = transaction.get(inTenant(tenant, networkNames, options.name)) !== undefined
  const rejections = [
    ...(isTaken ? [reject('network_exists', 'name', options.name)] : []),
    ...(chosen.ok ? [] : [chosen.rejection]),
    ...checkQuotas(recordQuota(deps, tenant, slot)),
  ]
  if (rejections.length > 0 || !chosen.ok || node === undefined) return refused(...rejections)
  return done({ node, alterations: [...alterations, ...chosen.alterations] })
}

function recordQuota({ slots, quotas }: NetworkDeps, tenant: TenantId, slot: SlotChoice): QuotaFact[] {
  if (slot.kind !== 'full') return []
  const limit = quotas.limit(tenant, KIND)
  return [{ kind: KIND, used: Math.max(slots.used(tenant, KIND), limit), requested: 1, limit }]
}
