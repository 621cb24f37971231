// Asks the server to drop promotable nodes that are silent and to add copies that are current, for all volumes of this node
// in few calls. An answer that is lost is asked for again: the server changes nothing twice.

import { CALL_VOLUMES, type Configuration, type ConfigureRequest, type VolumeId } from '@holdfast/contract'
import { onConfiguration, type PrimaryRole } from '@holdfast/core/promotion/node/follow-volume'
import { type GrowthFacts, planRequests } from '@holdfast/core/promotion/node/plan-requests'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import type { Fences } from '../ports/leases.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import { NoSessionError } from '../ports/session.ts'
import { coalesce } from '../routing/coalesce.ts'
import type { PromiseTable } from './promise-table.ts'

/** A server that refuses to add a living node is asked again after this time. */
const GROW_AGAIN_MS = 5_000

export interface AskDeps {
  readonly table: PromiseTable
  readonly live: Pick<LiveCopies, 'liveEpoch' | 'isReleased'>
  readonly fences: Pick<Fences, 'isWatched'>
  /** The copies that have the newest checkpoint of the epoch. */
  current(volume: VolumeId): GrowthFacts['current']
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[]>
  nowMs(): number
  /** Called after a role has changed. */
  onChange(): void
  readonly timings: PromotionTimings
  readonly log: Logger
}

export interface ServerRequests {
  /** Plans and sends what is due. Never rejects. */
  ask(): Promise<void>
  /** Reads the stored record, and resolves if this node is the primary of its epoch. */
  confirmEpoch(volume: VolumeId): Promise<void>
}

export function createServerRequests(deps: AskDeps): ServerRequests {
  const { table, configure, nowMs, onChange, log } = deps
  const grownAt = new Map<string, number>()
  let explained = ''

  function apply(configurations: readonly Configuration[]): void {
    for (const one of configurations) {
      const role = table.of(one.volume)
      if (role?.role === 'primary') table.replace(one.volume, onConfiguration(role, one))
    }
    if (configurations.length > 0) onChange()
  }
  /** A request for a silent node is repeated at once, because its promise holds up the writer. */
  function isDue({ kind, volume, nodeId, cv }: ConfigureRequest, role: PrimaryRole | undefined): boolean {
    const heardMs = role?.primary.lease.get(nodeId ?? '') ?? Number.NEGATIVE_INFINITY
    if (kind !== 'grow' || nowMs() - heardMs >= deps.timings.shrinkAfterMs) return true
    const key = `${volume} ${nodeId} ${cv}`
    const isEarly = nowMs() - (grownAt.get(key) ?? Number.NEGATIVE_INFINITY) < GROW_AGAIN_MS
    if (!isEarly) grownAt.set(key, nowMs())
    return !isEarly
  }
  function forget(): void {
    for (const [key, ms] of grownAt) if (nowMs() - ms >= GROW_AGAIN_MS) grownAt.delete(key)
  }
  async function plan(): Promise<ConfigureRequest[]> {
    const requests: ConfigureRequest[] = []
    for (const [volume, role] of [...table.all()])
      if (role.role === 'primary' && isAsking(deps, volume, role))
        requests.push(...(await planOne(deps, volume)))
    return requests.filter((one) => isDue(one, primaryOf(table, one.volume)))
  }
  async function send(): Promise<void> {
    const requests = await plan()
    if (requests.length === 0) return forget()
    onChange()
    await table.synced()
    for (let at = 0; at < requests.length; at += CALL_VOLUMES)
      apply(await configure(requests.slice(at, at + CALL_VOLUMES)))
    explained = ''
  }
  const ask = coalesce(async () => {
    await send().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      // Without a session nothing can be asked, which the log has already.
      if (!(error instanceof NoSessionError) && message !== explained)
        log.warn({ message }, 'promotable nodes not changed')
      explained = message
    })
  })
  return {
    ask,
    async confirmEpoch(volume) {
      const role = primaryOf(table, volume)
      if (role === undefined || role.isConfirmed) return
      apply(await configure([{ kind: 'read', volume, epoch: role.primary.durable.epoch }]))
      await table.synced()
      if (primaryOf(table, volume)?.isConfirmed !== true)
        throw new Error(`The server does not confirm that this node is the primary of ${volume}.`)
    },
  }
}

function primaryOf(table: PromiseTable, volume: VolumeId): PrimaryRole | undefined {
  const role = table.of(volume)
  return role?.role === 'primary' ? role : undefined
}

/** A volume that was released is changed by its next primary. */
const isAsking = ({ live }: AskDeps, volume: VolumeId, { primary }: PrimaryRole): boolean =>
  live.liveEpoch(volume) === primary.durable.epoch && !live.isReleased(volume)

async function planOne(deps: AskDeps, volume: VolumeId): Promise<readonly ConfigureRequest[]> {
  const { table, fences, timings } = deps
  const isUnsent = (primaryOf(table, volume)?.unsent.length ?? 0) > 0
  const isWatched = isUnsent && (await fences.isWatched(volume).catch(() => false))
  // The role may have changed during the wait.
  const role = primaryOf(table, volume)
  if (role === undefined) return []
  const facts = { nowMs: deps.nowMs(), current: deps.current(volume), isWatched }
  const planned = planRequests(role, volume, facts, timings)
  if (planned.role === role) return planned.requests
  table.replace(volume, planned.role)
  deps.onChange()
  return planned.requests
}
