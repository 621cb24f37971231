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

/** A server that refuses to add a living node is asked again after growing delays, up to this one. */
const MAX_DELAY_MS = 60_000

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
  const { table, configure, onChange, log } = deps
  const pauses = createPauses(deps)
  let explained = ''

  function apply(configurations: readonly Configuration[]): void {
    for (const one of configurations) {
      const role = primaryOf(table, one.volume)
      if (role !== undefined) table.replace(one.volume, onConfiguration(role, one))
    }
    onChange()
  }
  async function plan(): Promise<ConfigureRequest[]> {
    const requests: ConfigureRequest[] = []
    for (const [volume, role] of [...table.all()])
      if (role.role === 'primary' && isAsking(deps, volume, role))
        requests.push(...(await planOne(deps, volume, pauses.isPaused)))
    return requests.filter(pauses.isDue)
  }
  async function send(): Promise<void> {
    const requests = await plan()
    if (requests.length === 0) return
    await table.synced()
    for (let at = 0; at < requests.length; at += CALL_VOLUMES) {
      const sent = requests.slice(at, at + CALL_VOLUMES)
      for (const request of sent) pauses.note(request)
      apply(await configure(sent))
    }
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

/** Delays between requests to add the same node. A silent node is requested at once: its promise holds up the writer. */
function createPauses({ table, nowMs, timings }: AskDeps) {
  const pauses = new Map<
    string,
    { readonly volume: VolumeId; readonly delayMs: number; readonly untilMs: number }
  >()
  const keyOf = (volume: VolumeId, node: string): string => `${volume} ${node}`
  const isPaused = (volume: VolumeId, node: string): boolean =>
    (pauses.get(keyOf(volume, node))?.untilMs ?? Number.NEGATIVE_INFINITY) > nowMs()
  return {
    isPaused,
    isDue({ kind, volume, nodeId }: ConfigureRequest): boolean {
      const node: string = nodeId ?? ''
      const heardMs = primaryOf(table, volume)?.primary.lease.get(node) ?? Number.NEGATIVE_INFINITY
      const isSilent = nowMs() - heardMs >= timings.shrinkAfterMs
      return kind !== 'grow' || isSilent || !isPaused(volume, node)
    },
    note({ kind, volume, nodeId }: ConfigureRequest): void {
      for (const [key, one] of pauses) if (table.of(one.volume) === undefined) pauses.delete(key)
      const key = keyOf(volume, nodeId ?? '')
      if (kind !== 'grow') return void pauses.delete(key)
      const delayMs = Math.min(MAX_DELAY_MS, 2 * (pauses.get(key)?.delayMs ?? timings.renewEveryMs))
      pauses.set(key, { volume, delayMs, untilMs: nowMs() + delayMs })
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

async function planOne(
  deps: AskDeps,
  volume: VolumeId,
  isPaused: (volume: VolumeId, node: string) => boolean,
): Promise<readonly ConfigureRequest[]> {
  const { table, fences, timings } = deps
  const isUnsent = (primaryOf(table, volume)?.unsent.length ?? 0) > 0
  const isWatched = isUnsent && (await fences.isWatched(volume).catch(() => false))
  // The role may have changed during the wait.
  const role = primaryOf(table, volume)
  if (role === undefined) return []
  const current = deps.current(volume)
  const asked = role.primary.durable.asked
  const nodes = current?.nodes.filter((node) => asked.includes(node) || !isPaused(volume, node)) ?? []
  const facts = { nowMs: deps.nowMs(), current: current && { ...current, nodes }, isWatched }
  const planned = planRequests(role, volume, facts, timings)
  if (planned.role === role) return planned.requests
  table.replace(volume, planned.role)
  deps.onChange()
  return planned.requests
}
