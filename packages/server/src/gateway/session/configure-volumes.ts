// Answers the call `configure` of an agent: a primary reads the committed configuration of its volumes, drops a silent node
// from the promotable ones or adds one. See docs/design/promotable-nodes.md#requests-of-a-primary

import {
  type Answer,
  CALL_VOLUMES,
  type Configuration,
  type ConfigureRequest,
  capabilitiesOf,
  isNodeId,
  isVolumeId,
  type NodeId,
  PROMISES,
  type VolumeId,
} from '@holdfast/contract'
import { configurationOf, configureVolume } from '@holdfast/core'
import { acceptsPrimary } from '../../operations/volumes/volume-group.ts'
import { nodes, type StoredVolume, volumes } from '../../store/records.ts'
import { StoreUnavailableError, type TransactionDecision } from '../../store/store.ts'
import { getOr, inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { heldNode } from './held-sessions.ts'
import { type Session, WRITES_IN_WINDOW } from './session.ts'

/** Requests per transaction. Each compares a volume and at most one node, and a transaction may have 120 operations. */
const MAX_BATCH = 50

type Configured = readonly Configuration[] | 'superseded'

export async function configureVolumes(
  context: GatewayContext,
  session: Session,
  requests: readonly ConfigureRequest[],
): Promise<Partial<Answer>> {
  if (requests.length > CALL_VOLUMES || !requests.every(isValid)) return { error: 'request_invalid' }
  const configurations = new Map<VolumeId, Configuration>()
  for (let from = 0; from < requests.length; from += MAX_BATCH) {
    const batch = requests.slice(from, from + MAX_BATCH)
    if (batch.some(({ kind }) => kind !== 'read')) session.writes += 1
    if (session.writes > WRITES_IN_WINDOW) return { error: 'too_many_writes' }
    const configured = await transactBatch(context, session, batch)
    if (typeof configured === 'string') return { error: configured }
    for (const one of configured) configurations.set(one.volume, one)
  }
  return { configurations: [...configurations.values()] }
}

const KINDS: readonly string[] = ['read', 'shrink', 'grow']

function isValid({ kind, volume, epoch, cv = 0, nodeId }: ConfigureRequest): boolean {
  const numbers = [epoch, cv].every((number) => Number.isSafeInteger(number) && number >= 0)
  return KINDS.includes(kind) && isVolumeId(volume) && numbers && (nodeId === undefined || isNodeId(nodeId))
}

async function transactBatch(
  context: GatewayContext,
  session: Session,
  batch: readonly ConfigureRequest[],
): Promise<Configured | 'store_unavailable'> {
  try {
    return await context.store.transact<Configured>((transaction) =>
      decide(context, session, batch, transaction),
    )
  } catch (error) {
    if (error instanceof StoreUnavailableError) return 'store_unavailable'
    throw error
  }
}

/** The result is committed: all volumes are compared at commit, and an abort is returned only on a current cache. */
function decide(
  context: GatewayContext,
  session: Session,
  batch: readonly ConfigureRequest[],
  transaction: Transaction,
): TransactionDecision<Configured> {
  if (heldNode(transaction, session, context.replica) === undefined)
    return { kind: 'abort', result: 'superseded' }
  const { tenant, nodeId } = session
  const before = new Map<VolumeId, StoredVolume>()
  const after = new Map<VolumeId, StoredVolume>()
  for (const request of batch) {
    const address = inTenant(tenant, volumes, request.volume)
    const volume = after.get(request.volume) ?? getOr(transaction, address, undefined)
    if (volume === undefined || !isHolder(volume, nodeId)) continue
    const isAccepted = acceptance(context, session, transaction, volume)
    if (!before.has(volume.id)) before.set(volume.id, volume)
    after.set(volume.id, configureVolume(volume, nodeId, request, isAccepted))
  }
  const changed = [...after.values()].filter((volume) => before.get(volume.id) !== volume)
  for (const volume of changed) transaction.put(inTenant(tenant, volumes, volume.id), volume)
  const result = [...after.values()].flatMap((volume) => configurationOf(volume) ?? [])
  return { kind: changed.length === 0 ? 'abort' : 'commit', result }
}

/** A node that was the primary must be able to read that it no longer is. */
const isHolder = ({ copies, leaving = [] }: StoredVolume, nodeId: NodeId): boolean =>
  [...copies, ...leaving].some((copy) => copy.nodeId === nodeId)

/** Whether a node may become the primary of the volume, and its agent can promise. */
function acceptance(
  { store, residency }: GatewayContext,
  { tenant }: Session,
  transaction: Transaction,
  volume: StoredVolume,
): (nodeId: NodeId) => boolean {
  const accepts = acceptsPrimary({ store, residency }, tenant, volume)
  return (nodeId) => {
    const node = getOr(transaction, inTenant(tenant, nodes, nodeId), undefined)
    return capabilitiesOf(node?.agent).includes(PROMISES) && accepts(nodeId)
  }
}
