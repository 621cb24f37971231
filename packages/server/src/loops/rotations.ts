// The controller of rotations: while a credential is in cutover, its consumers are moved to the new version one after
// another, each when the one before serves with it; where a cutover is aborted they are moved back, and the new
// version goes when nobody has it any more. All of its state is in the records: whoever leads the shard goes on.

import type { TenantId } from '@holdfast/contract'
import { nextMove, type RotationMove } from '@holdfast/core'
import type { Caller } from '../operations/caller.ts'
import { storeRevision } from '../operations/deployments/write/store-deployment.ts'
import { recordEvent } from '../operations/record-write.ts'
import {
  advancedCredential,
  rotatedCause,
  rotatedDeployment,
} from '../operations/secrets/rotation/rotated-records.ts'
import { gatherRotation } from '../operations/secrets/rotation/rotation-guards.ts'
import { markVersionsForDestruction } from '../operations/secrets/versions/destroy-versions.ts'
import { pathOf } from '../operations/secrets/versions/version-uses.ts'
import { type Clock, timestamp } from '../ports/clock.ts'
import { credentials, deployments, type StoredCredential, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant, type Transaction } from '../store/transaction.ts'
import { LostLeadershipError } from './leadership/fence.ts'
import type { Leadership } from './leadership/lead-shards.ts'
import { repeat } from './repeat.ts'

export interface RotationLoopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced'>
  readonly archiveRevisions: number
  /** How often the credentials in cutover are looked at. */
  readonly lookMs?: number
  onError(error: unknown, credential: string): void
}

const LOOK_MS = 500

export function startRotations(deps: RotationLoopDeps): { stop(): Promise<void> } {
  const { store, lookMs = LOOK_MS } = deps
  /** Tenant to labels in cutover: found anew at each start, and kept by what changes. */
  const turning = new Map<TenantId, Set<string>>()
  for (const { record: tenant } of store.list(tenants))
    for (const { id } of store.keysOf(credentials, tenant.id)) file(store, turning, tenant.id, id)
  const unwatch = store.subscribe((changes) => {
    for (const { tenant, folder, id } of changes.map(({ key }) => key))
      if (tenant !== undefined && folder === credentials.folder) file(store, turning, tenant, id)
  })
  const looking = repeat(
    lookMs,
    () => lookAtAll(deps, turning),
    (error) => deps.onError(error, ''),
  )
  return {
    async stop() {
      unwatch()
      await looking.stop()
    },
  }
}

type Turning = Map<TenantId, Set<string>>

function file(store: Pick<Store, 'get'>, turning: Turning, tenant: TenantId, label: string): void {
  const rotation = store.get(inTenant(tenant, credentials, label))?.record.rotation
  const labels = turning.get(tenant) ?? new Set()
  if (rotation?.phase === 'cutover') turning.set(tenant, labels.add(label))
  else if (labels.delete(label) && labels.size === 0) turning.delete(tenant)
}

/** A tenant that fails keeps none of the others waiting, and is looked at again at the next turn. */
async function lookAtAll(deps: RotationLoopDeps, turning: Turning): Promise<void> {
  await Promise.all(
    [...turning]
      .filter(([tenant]) => deps.leadership.owns(tenant))
      .map(([tenant, labels]) =>
        lookAtTenant(deps, tenant, [...labels]).catch((error: unknown) => {
          // Whoever owns the shard now does the work.
          if (!(error instanceof LostLeadershipError)) deps.onError(error, `${tenant}: ${[...labels].join()}`)
        }),
      ),
  )
}

/** What is due now: whom to move for which credentials, in one revision each, and which rotations are over. */
async function lookAtTenant(
  deps: RotationLoopDeps,
  tenant: TenantId,
  labels: readonly string[],
): Promise<void> {
  const movers = new Map<string, string[]>()
  for (const label of labels) {
    const move = moveOf(deps.store, tenant, deps.store.get(inTenant(tenant, credentials, label))?.record)
    if (move?.kind === 'end') await endAbort(deps, tenant, label)
    for (const name of move?.kind === 'pin' ? move.consumers : [])
      movers.set(name, [...(movers.get(name) ?? []), label])
  }
  for (const [name, moved] of movers) await moveConsumer(deps, tenant, name, moved)
}

function moveOf(
  store: Store,
  tenant: TenantId,
  credential: StoredCredential | undefined,
): RotationMove | undefined {
  if (credential?.rotation === undefined) return undefined
  return nextMove(gatherRotation(store, tenant, credential), credential.rotation.startedBy)
}

/** Decided anew on the records that the transaction compares: an abort or an update may have come between. */
async function moveConsumer(
  deps: RotationLoopDeps,
  tenant: TenantId,
  name: string,
  labels: readonly string[],
): Promise<void> {
  const { leadership, store, clock } = deps
  await leadership.fenced<void>(tenant, (transaction) => {
    const stored = transaction.get(inTenant(tenant, deployments, name))
    const found = labels.flatMap((label) => transaction.get(inTenant(tenant, credentials, label)) ?? [])
    const due = found.flatMap((credential): Due[] => {
      const move = moveOf(store, tenant, credential)
      return move?.kind === 'pin' && move.consumers.includes(name) ? [[credential, move.version]] : []
    })
    const caller = callerOf(tenant, due)
    if (stored === undefined || caller === undefined) return { kind: 'abort', result: undefined }
    const moved = new Map(due.map(([{ label }, version]) => [label, version]))
    const next = rotatedDeployment(clock, transaction, stored, moved)
    storeRevision(deps, transaction, caller, next, { cause: rotatedCause(next, moved) })
    return { kind: 'commit', result: undefined }
  })
}

type Due = readonly [StoredCredential, number]

/** The revision is made in the name of whoever asked for the step that it belongs to. */
function callerOf(tenant: TenantId, [first]: readonly Due[]): Caller | undefined {
  const askedBy = first?.[0].rotation?.askedBy
  return askedBy && { tenant, ...askedBy }
}

async function endAbort(deps: RotationLoopDeps, tenant: TenantId, label: string): Promise<void> {
  const { leadership, store, clock } = deps
  await leadership.fenced<void>(tenant, (transaction) => {
    const address = inTenant(tenant, credentials, label)
    const credential = transaction.get(address)
    const move = moveOf(store, tenant, credential)
    if (credential === undefined || move?.kind !== 'end') return { kind: 'abort', result: undefined }
    const { destroyed } = move
    const turned = { rotation: undefined, destroyed }
    transaction.put(address, advancedCredential(credential, turned, timestamp(clock), undefined))
    // The janitor destroys it: a controller speaks to no other store.
    markVersionsForDestruction(transaction, clock, tenant, credential, destroyed)
    emitRotationEnd(transaction, clock, tenant, credential, destroyed)
    return { kind: 'commit', result: undefined }
  })
}

function emitRotationEnd(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  credential: StoredCredential,
  destroyed: readonly number[],
): void {
  const path = pathOf(credential)
  recordEvent(transaction, clock, tenant, {
    type: 'secret.rotation_aborted',
    severity: 'info',
    subject: { kind: 'Secret', name: path, uid: path },
    cause: destroyed.join(),
    reason: 'over',
    message: `Nobody has version ${destroyed.join()} of ${path} any more: its rotation is taken back.`,
    data: { path, destroyed: [...destroyed] },
  })
}
