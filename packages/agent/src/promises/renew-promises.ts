// The side of a primary: one renewal for each node with copies, for all volumes at once. The stamp is read before a renewal
// is sent, and the lease counts from it.

import type { NodeId, Peer, VolumeId } from '@holdfast/contract'
import type { PrimaryRole } from '@holdfast/core/promotion/node/follow-volume'
import type { GrowthFacts } from '@holdfast/core/promotion/node/plan-requests'
import { onAck, renewPromises, requiredNodes } from '@holdfast/core/promotion/primary'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import { type Answer, type PeerStamp, RENEW_VOLUMES, type RenewItem } from '../peer/messages.ts'
import { nameOfSet, type RenewalLinks } from '../peer/renewals.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { AckedSet, LeaseFile } from './lease-file.ts'
import type { PromiseTable } from './promise-table.ts'

export interface RenewerDeps {
  readonly table: PromiseTable
  readonly links: RenewalLinks
  readonly leases: LeaseFile
  peers(): readonly Peer[]
  readonly live: Pick<LiveCopies, 'liveEpoch' | 'isReleased'>
  readonly boot: number
  /** CLOCK_BOOTTIME, never later than the true time. */
  nowMs(): number
  /** The copies that have the newest checkpoint of the volume's epoch, so that they may become promotable. */
  current(volume: VolumeId): GrowthFacts['current']
  /** Called after acknowledgments. */
  onAcked(): void
  readonly timings: PromotionTimings
  readonly log: Logger
}

export interface Renewer {
  /** Sends the renewals that are due. A node whose last one is under way gets none. */
  renew(): void
  settled(): Promise<void>
}

export function createRenewer(deps: RenewerDeps): Renewer {
  const { table, links, leases, nowMs, boot, timings } = deps
  const running = new Map<NodeId, Promise<void>>()
  const starts = new Map<NodeId, number>()
  // A node that never answered and whose promise is not needed is asked once in a lease: it may have an older agent, or be
  // the former primary. One that has become current is asked at once: it waits for nothing else.
  const unheardUntil = new Map<NodeId, number>()
  const newlyCurrent = createFirstTimes((node) => isCurrent(deps, node))
  const acked = new Map<NodeId, AckedSet>(leases.saved)
  const explain = createExplanations(deps.log)
  restoreLeases(deps)

  async function renewOne(peer: Peer, items: readonly RenewItem[]): Promise<void> {
    const { nodeId } = peer
    const set = nameOfSet(items)
    const sent = { boot, ms: nowMs() }
    const start = starts.get(nodeId)
    const request = { request: 'renew', sent, lease: timings.leaseMs, set, ...(start && { start }) } as const
    const answer = await links.renew(peer, request, items)
    explain(peer, reasonOf(answer))
    if (answer.answer !== 'renewed') return
    unheardUntil.delete(nodeId)
    starts.set(nodeId, answer.start ?? 0)
    acknowledgeAll(deps, nodeId, items, answer, sent)
    if (answer.refused === undefined) leases.write(acked.set(nodeId, { ms: sent.ms, set }))
    deps.onAcked()
  }
  function fail(peer: Peer, error: unknown): void {
    explain(peer, error instanceof Error ? error.message : String(error))
    const { nodeId } = peer
    if (!starts.has(nodeId) && !isRequired(table, nodeId)) unheardUntil.set(nodeId, nowMs() + timings.leaseMs)
  }
  return {
    renew() {
      const peers = deps.peers()
      links.keepOnly(new Set(peers.map(({ nodeId }) => nodeId)))
      for (const peer of peers) {
        const { nodeId } = peer
        if (newlyCurrent(nodeId)) unheardUntil.delete(nodeId)
        if (running.has(nodeId) || (unheardUntil.get(nodeId) ?? 0) > nowMs()) continue
        const items = itemsFor(deps, nodeId)
        if (items.length === 0) continue
        const work = renewOne(peer, items).catch((error: unknown) => fail(peer, error))
        running.set(
          nodeId,
          work.finally(() => running.delete(nodeId)),
        )
      }
    },
    async settled() {
      await Promise.all(running.values())
      await leases.settled()
    },
  }
}

const isCurrent = ({ table, current }: RenewerDeps, node: NodeId): boolean =>
  [...table.all()].some(
    ([volume, { role }]) => role === 'primary' && current(volume)?.nodes.includes(node) === true,
  )

/** Returns a function that is true for a node that has the property now and had it not at the call before. */
function createFirstTimes(has: (node: NodeId) => boolean): (node: NodeId) => boolean {
  const had = new Set<NodeId>()
  return (node) => {
    const isFirst = has(node) && !had.has(node)
    if (has(node)) had.add(node)
    else had.delete(node)
    return isFirst
  }
}

/** Logs why a node does not promise, once for each reason. */
function createExplanations(log: Logger): (peer: Peer, reason: string) => void {
  const known = new Map<NodeId, string>()
  return ({ nodeId }, reason) => {
    if ((known.get(nodeId) ?? '') === reason) return
    known.set(nodeId, reason)
    if (reason === '') log.info({ peer: nodeId }, 'peer promises')
    else log.warn({ peer: nodeId, reason }, 'peer does not promise')
  }
}

function reasonOf({ answer, reason, refused = [] }: Answer): string {
  if (answer !== 'renewed') return reason ?? answer
  return refused.length === 0 ? '' : `${refused.length} volumes are not acknowledged`
}

const isRequired = (table: PromiseTable, node: NodeId): boolean =>
  [...table.all().values()].some(
    (role) => role.role === 'primary' && requiredNodes(role.primary).includes(node),
  )

/** A volume that was released must not be renewed, and one whose live data is unknown may have been released. */
function isLive({ live }: Pick<RenewerDeps, 'live'>, volume: VolumeId, { primary }: PrimaryRole): boolean {
  return live.liveEpoch(volume) === primary.durable.epoch && !live.isReleased(volume)
}

function itemsFor(deps: RenewerDeps, node: NodeId): RenewItem[] {
  return setFor(deps.table, node, (volume, role) => !role.isDeposed && isLive(deps, volume, role))
}

function setFor(
  table: PromiseTable,
  node: NodeId,
  isRenewed: (volume: VolumeId, role: PrimaryRole) => boolean,
): RenewItem[] {
  const items = [...table.all()].flatMap(([volume, role]) => {
    if (role.role !== 'primary' || !isRenewed(volume, role)) return []
    const message = renewPromises(role.primary, 0).find((one) => one.kind === 'renew' && one.to === node)
    return message?.kind === 'renew' ? [{ volume, epoch: message.epoch, cv: message.cv }] : []
  })
  return items.toSorted((a, b) => (a.volume < b.volume ? -1 : 1)).slice(0, RENEW_VOLUMES)
}

function acknowledgeAll(
  deps: Pick<RenewerDeps, 'table' | 'live' | 'nowMs'>,
  from: NodeId,
  items: readonly RenewItem[],
  { start = 0, refused = [] }: Pick<Answer, 'start' | 'refused'>,
  sent: PeerStamp,
): void {
  const skipped = new Set(refused)
  const arrivedMs = deps.nowMs()
  for (const [position, { volume, epoch }] of items.entries()) {
    const role = deps.table.of(volume)
    if (skipped.has(position) || role?.role !== 'primary' || deps.live.isReleased(volume)) continue
    const ack = { kind: 'ack', from, to: role.primary.node, epoch, sent, start } as const
    deps.table.replace(volume, { ...role, primary: onAck(role.primary, ack, arrivedMs).state })
  }
}

/** Continues the leases of the agent before this one, if the node acknowledged exactly the volumes that are renewed now. */
function restoreLeases(deps: RenewerDeps): void {
  for (const [node, { ms, set }] of deps.leases.saved) {
    const items = setFor(deps.table, node, () => true)
    if (nameOfSet(items) === set) acknowledgeAll(deps, node, items, {}, { boot: deps.boot, ms })
  }
}
