// The rotation controller. During the cutover of a credential it moves the deployments that use the credential to the new
// version, each after the previous one is ready. After an abort it moves them back and destroys the new version once no
// container uses it. All state is stored, so any owner of the shard can continue. See
// docs/design/secrets.md#rotation

import { consumerName, type TenantId } from '@holdfast/contract'
import { describeStarter, nextMove, type RotationMove } from '@holdfast/core'
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
import type { CallMeasure } from '../operations/volumes/measure-volumes.ts'
import { type Clock, timestamp } from '../ports/clock.ts'
import { credentials, deployments, type StoredCredential, tenants, tokens } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant, type Transaction } from '../store/transaction.ts'
import { createConfirmations } from './confirm-checkpoints.ts'
import { LostLeadershipError } from './leadership/fence.ts'
import type { Leadership } from './leadership/lead-shards.ts'
import { repeat } from './repeat.ts'

/** The dependencies of the moves of a cutover. */
export interface RotationDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced'>
  readonly archiveRevisions: number
  onError(error: unknown, credential: string): void
}

export interface RotationLoopDeps extends RotationDeps {
  readonly callMeasure: CallMeasure
  /** The interval at which credentials in cutover are reconciled. */
  readonly checkMs?: number
  /** The interval at which primaries of anchored volumes are asked. */
  readonly confirmMs?: number
}

const CHECK_MS = 500
const CONFIRM_MS = 1_000

export function startRotations(deps: RotationLoopDeps): { stop(): Promise<void> } {
  const { store, checkMs = CHECK_MS, confirmMs = CONFIRM_MS } = deps
  /** The credentials in cutover, read from the store at start and updated with each change of a credential. */
  const inCutover: LabelsInCutover = new Map()
  for (const { record: tenant } of store.list(tenants))
    for (const { id } of store.keysOf(credentials, tenant.id)) track(store, inCutover, tenant.id, id)
  const unwatch = store.subscribe((changes) => {
    for (const { tenant, folder, id } of changes.map(({ key }) => key))
      if (tenant !== undefined && folder === credentials.folder) track(store, inCutover, tenant, id)
  })
  const reconciling = repeat(
    checkMs,
    () => reconcileAll(deps, inCutover),
    (error) => deps.onError(error, ''),
  )
  const confirmations = createConfirmations(deps, (error, tenant) => reportError(deps, error, tenant))
  const confirming = setInterval(() => {
    for (const [tenant, labels] of inCutover)
      if (deps.leadership.owns(tenant)) confirmations.start(tenant, [...labels])
  }, confirmMs)
  return {
    async stop() {
      unwatch()
      clearInterval(confirming)
      await confirmations.settled()
      await reconciling.stop()
    },
  }
}

/** The labels of the credentials in cutover, by tenant. */
type LabelsInCutover = Map<TenantId, Set<string>>

function track(store: Pick<Store, 'get'>, inCutover: LabelsInCutover, tenant: TenantId, label: string): void {
  const rotation = store.get(inTenant(tenant, credentials, label))?.record.rotation
  const labels = inCutover.get(tenant) ?? new Set()
  if (rotation?.phase === 'cutover') inCutover.set(tenant, labels.add(label))
  else if (labels.delete(label) && labels.size === 0) inCutover.delete(tenant)
}

/** Reconciles all tenants. A tenant that fails does not block other tenants and is retried at the next run. */
async function reconcileAll(deps: RotationDeps, inCutover: LabelsInCutover): Promise<void> {
  await Promise.all(
    [...inCutover]
      .filter(([tenant]) => deps.leadership.owns(tenant))
      .map(([tenant, labels]) =>
        reconcileTenant(deps, tenant, [...labels]).catch((error: unknown) =>
          reportError(deps, error, `${tenant}: ${[...labels].join()}`),
        ),
      ),
  )
}

/** LostLeadershipError is ignored, because the new owner of the shard does the work. */
function reportError({ onError }: RotationDeps, error: unknown, credential: string): void {
  if (!(error instanceof LostLeadershipError)) onError(error, credential)
}

/** Ends finished aborts. Moves each due deployment with one new revision, even if several of its credentials rotate. */
export async function reconcileTenant(
  deps: RotationDeps,
  tenant: TenantId,
  labels: readonly string[],
): Promise<void> {
  const dueLabels = new Map<string, string[]>()
  for (const label of labels) {
    const move = moveOf(deps.store, tenant, deps.store.get(inTenant(tenant, credentials, label))?.record)
    if (move?.kind === 'end') await endAbort(deps, tenant, label)
    for (const name of move?.kind === 'pin' ? move.consumers : [])
      dueLabels.set(name, [...(dueLabels.get(name) ?? []), label])
  }
  for (const [name, moved] of dueLabels) await moveConsumer(deps, tenant, name, moved)
}

function moveOf(
  store: Store,
  tenant: TenantId,
  credential: StoredCredential | undefined,
): RotationMove | undefined {
  if (credential?.rotation === undefined) return undefined
  return nextMove(gatherRotation(store, tenant, credential), consumerName(credential.rotation.startedBy))
}

/** Moves a deployment to another version. Decides again inside the transaction, because records may have changed. */
async function moveConsumer(
  deps: RotationDeps,
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
    // The token is not compared: it may be revoked at any time, and the rotation continues.
    const token = store.get(globally(tokens, caller.token))?.record
    const starter = describeStarter({ token: caller.token, name: caller.tokenName }, token, clock.now())
    storeRevision(deps, transaction, caller, next, { cause: rotatedCause(next, moved, starter) })
    return { kind: 'commit', result: undefined }
  })
}

type Due = readonly [StoredCredential, number]

/** The caller named in the new revision: the caller who requested the rotation step, for whom the platform acts. */
function callerOf(tenant: TenantId, [first]: readonly Due[]): Caller | undefined {
  const askedBy = first?.[0].rotation?.askedBy
  return askedBy && { tenant, ...askedBy }
}

async function endAbort(deps: RotationDeps, tenant: TenantId, label: string): Promise<void> {
  const { leadership, store, clock } = deps
  await leadership.fenced<void>(tenant, (transaction) => {
    const address = inTenant(tenant, credentials, label)
    const credential = transaction.get(address)
    const move = moveOf(store, tenant, credential)
    if (credential === undefined || move?.kind !== 'end') return { kind: 'abort', result: undefined }
    const { destroyed } = move
    const changes = { rotation: undefined, destroyed }
    transaction.put(address, advancedCredential(credential, changes, timestamp(clock), undefined))
    // The version is only marked; another loop destroys it, because a controller never writes to the secrets store.
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
  const versions = `${destroyed.length === 1 ? 'version' : 'versions'} ${destroyed.join(', ')}`
  recordEvent(transaction, clock, tenant, {
    type: 'secret.rotation_aborted',
    severity: 'info',
    subject: { kind: 'Secret', name: path, uid: path },
    cause: destroyed.join(),
    reason: 'over',
    message: `No container uses ${versions} of ${path}; its rotation was aborted.`,
    data: { path, destroyed: [...destroyed] },
  })
}
