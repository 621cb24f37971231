// Opens a session from a verified hello in one transaction: the epoch increases, which makes older sessions void, and the
// node's record names this server replica as the holder. See docs/design/agent.md#session.

import { defined, type Hello, reportsFault, type TenantId } from '@holdfast/contract'
import { carriedHealth, isLabelKey, isLabelValue } from '@holdfast/core'
import { type AttestedLabels, attestLabels, markOf } from '../../operations/nodes/attest-labels.ts'
import {
  addressRefusedEvent,
  addressTexts,
  labelsRefusedEvent,
  nodeSubject,
  poolChangedEvent,
  type RefusedAddress,
} from '../../operations/nodes/node-events.ts'
import { markOf as markOfPool } from '../../operations/nodes/pools.ts'
import { type NewEvent, recordEvent } from '../../operations/record-write.ts'
import { timestamp } from '../../ports/clock.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { GatewayParts } from '../parts.ts'
import { isNewlyDegraded, withPool } from '../reports/accept-pool.ts'
import { refusedAddresses, withoutAddresses } from './peer-address.ts'
import { nextSecureRouter, statedRouter } from './secure-router.ts'
import type { OpenedSession } from './session.ts'
import { isProven } from './verify-hello.ts'

/**
 * Opens a session. Undefined if the hello is rejected: unknown node, wrong key, old generation, or too soon after the
 * last session. When the promise resolves, the cache contains all writes of older sessions, so the first desired set
 * that the node receives is never outdated.
 */
export async function openSession(
  { context, directory, sessionLimit }: Pick<GatewayParts, 'context' | 'directory' | 'sessionLimit'>,
  hello: Hello,
  nonce: string,
): Promise<OpenedSession | undefined> {
  const { store } = context
  let isAllowed = false
  let refused: readonly RefusedAddress[] = []
  const opened = await store.transact<OpenedSession | undefined>((transaction) => {
    const tenant = directory.tenantOf(hello.nodeId)
    const node = tenant && transaction.get(inTenant(tenant, nodes, hello.nodeId))
    if (!isProven(node, hello, nonce) || node === undefined || tenant === undefined)
      return { kind: 'abort', result: undefined }
    // The rate limit is checked after the signature, so that no other client can use up the node's limit. A hello is
    // checked once, although the transaction may run several times.
    isAllowed ||= sessionLimit.tryAcquire(node.id, performance.now())
    if (!isAllowed) return { kind: 'abort', result: undefined }
    const labels = checkLabels(hello.labels, node)
    refused = refusedAddresses(hello, store.keysOf(nodes, tenant).length <= 1)
    const mark = markOfPool(transaction, hello.storage?.poolId)
    const isMarked = mark !== undefined && mark.tenant !== tenant
    const stated = {
      ...openedNode(context, node, withoutAddresses(hello, refused), labels),
      ...(refused.length > 0 ? { refusedAddresses: addressTexts(refused).join() } : {}),
    }
    const next = withPool(stated, hello.storage, isMarked, context.clock)
    transaction.put(inTenant(tenant, nodes, node.id), next)
    recordOpening(context, transaction, tenant, node, next, labels)
    // A node that states the same refused addresses again causes no further event.
    if (refused.length > 0 && node.refusedAddresses !== next.refusedAddresses)
      recordEvent(transaction, context.clock, tenant, addressRefusedEvent(next, refused))
    const { generation, session, status } = next
    const result = { tenant, nodeId: node.id, generation, epoch: session.epoch, reportedStatus: status }
    return { kind: 'commit', result }
  })
  if (opened === undefined) return undefined
  for (const address of refused)
    context.log.warn({ nodeId: hello.nodeId, ...address }, 'node has an invalid peer address')
  if (hello.peerCertificate !== undefined && statedRouter(hello, context.clock.now()) === undefined)
    context.log.warn(
      { nodeId: hello.nodeId },
      'node has an invalid router certificate, so it forwards plainly',
    )
  await store.fresh()
  return opened
}

function openedNode(
  { clock, replica, times }: GatewayContext,
  node: StoredNode,
  hello: Hello,
  { labels, refused }: AttestedLabels,
): StoredNode {
  const { bootId, version, capabilities, engine, capacity, peerAddress, agentPeerAddress } = hello
  const { peerAddress: _address, agentPeerAddress: _agent, secureRouter: _router, ...stated } = node
  const { authorities: _authorities, ...others } = stated
  const { refusedMark: _mark, refusedAddresses: _refused, health: _health, ...kept } = others
  const { capabilities: _stated, ...agent } = node.agent ?? {}
  const refusedMark = markOf(refused)
  const now = clock.now()
  const health = carriedHealth(node, (reason) => reportsFault(hello, reason))
  const epoch = node.session.epoch + 1
  const { generation } = node
  const authorities = hello.authorities && { generation, epoch, pins: hello.authorities }
  const secureRouter = nextSecureRouter(node, statedRouter(hello, now), now, times.plainPeersMs)
  return {
    ...kept,
    ...defined({ refusedMark, peerAddress, agentPeerAddress, secureRouter, health, authorities }),
    labels,
    engine,
    agent: { ...agent, version, ...defined({ capabilities }) },
    capacity,
    status: 'ready',
    statusSince: node.status === 'ready' ? node.statusSince : timestamp(clock),
    session: { replica, epoch, bootId },
  }
}

function recordOpening(
  { clock }: GatewayContext,
  transaction: Transaction,
  tenant: TenantId,
  node: StoredNode,
  next: StoredNode,
  { refused }: AttestedLabels,
): void {
  const subject = nodeSubject(node)
  const cause = String(next.session.epoch)
  const record = (event: NewEvent) => recordEvent(transaction, clock, tenant, event)
  if (node.status !== 'ready')
    record({
      type: 'node.ready',
      severity: 'info',
      subject,
      cause,
      reason: node.status,
      message: `Node ${node.name} is ready; it was ${node.status}.`,
      data: { was: node.status },
    })
  if (!sameLabels(node.labels, next.labels))
    record({
      type: 'node.labels_changed',
      severity: 'info',
      subject,
      cause,
      reason: 'advertised',
      message: `Node ${node.name} advertises other labels than before.`,
      data: { before: node.labels, after: next.labels },
    })
  if (isNewlyDegraded(node, next)) record(poolChangedEvent(next))
  // A node that advertises the same rejected labels again causes no further event.
  if (refused.length > 0 && node.refusedMark !== next.refusedMark) record(labelsRefusedEvent(next, refused))
}

type Labels = Hello['labels']

/** Checks advertised labels. Malformed labels are not quoted, because their text could harm logs and terminals. */
function checkLabels(advertised: Labels, { attested }: StoredNode): AttestedLabels {
  const entries = Object.entries(advertised)
  const wellFormed = entries.filter(([key, value]) => isLabelKey(key) && isLabelValue(value))
  const { labels, refused } = attestLabels(Object.fromEntries(wellFormed), attested)
  if (wellFormed.length === entries.length) return { labels, refused }
  return {
    labels,
    refused: [...refused, { label: '(malformed)', advertised: '(malformed)', attested: null }],
  }
}

function sameLabels(left: Labels, right: Labels): boolean {
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key])
}
