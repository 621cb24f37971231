// Recovers the promises of volumes whose record on disk was lost: the server answers with the committed configuration, and
// the node continues with the most careful role that fits it. See docs/design/promises.md#a-lost-file

import {
  CALL_VOLUMES,
  type Configuration,
  type ConfigureRequest,
  type DesiredCopy,
  type VolumeId,
} from '@holdfast/contract'
import type { PromisingNode } from '@holdfast/core/promotion/node/follow-volume'
import { recoverRole } from '@holdfast/core/promotion/node/recover-role'
import type { Logger } from 'pino'
import { NoSessionError } from '../ports/session.ts'
import { coalesce } from '../routing/coalesce.ts'
import type { PromiseTable } from './promise-table.ts'

export interface RecoveryDeps {
  readonly table: PromiseTable
  self(): PromisingNode
  /** Since when this node has acknowledged nothing for the lost volumes, on its clock. */
  readonly sinceMs: number
  desired(): ReadonlyMap<VolumeId, DesiredCopy>
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[]>
  onRecovered(volumes: readonly VolumeId[]): void
  readonly log: Logger
}

export interface Recovery {
  /** Asks the server about all volumes whose promises are lost. Never rejects; what is not answered is asked for again. */
  recover(): Promise<void>
}

export function createRecovery(deps: RecoveryDeps): Recovery {
  const { table, configure, log } = deps
  let explained = ''
  async function ask(): Promise<void> {
    const lost = [...deps.desired().values()].filter(
      ({ volume, desired }) => desired === 'present' && table.isForgotten(volume),
    )
    for (let at = 0; at < lost.length; at += CALL_VOLUMES) {
      const asked = lost.slice(at, at + CALL_VOLUMES)
      apply(deps, await configure(asked.map(({ volume, epoch }) => ({ kind: 'read', volume, epoch }))))
    }
    explained = ''
  }
  const recover = coalesce(() =>
    ask().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      if (!(error instanceof NoSessionError) && message !== explained)
        log.warn({ message }, 'lost promises not recovered, retrying')
      explained = message
    }),
  )
  return { recover }
}

function apply({ table, log, ...deps }: RecoveryDeps, configurations: readonly Configuration[]): void {
  const recovered: VolumeId[] = []
  for (const stored of configurations) {
    const { volume } = stored
    const desired = deps.desired().get(volume)
    const role =
      desired && table.isForgotten(volume)
        ? recoverRole(desired, stored, deps.self(), deps.sinceMs)
        : undefined
    if (role === undefined) continue
    table.replace(volume, role)
    recovered.push(volume)
    log.info({ volume, role: role.role, epoch: stored.epoch, cv: stored.cv }, 'lost promises recovered')
  }
  if (recovered.length > 0) deps.onRecovered(recovered)
}
