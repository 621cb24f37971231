// The rotation controller of a dry run. It moves the deployments that use a rotated credential one after another, as the
// real one does, and skips the watch window that passes between two of them.

import type { TenantId } from '@holdfast/contract'
import { hasProved, type RotationConsumer } from '@holdfast/core'
import { gatherRotation } from '../../../operations/secrets/rotation/rotation-guards.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import { credentials, type StoredCredential } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { reconcileTenant } from '../../rotations.ts'
import type { Controller } from '../controller.ts'
import { workKey } from '../queue/work-key.ts'

/** The clock of a dry run, which can be set ahead. */
export interface SkippingClock extends Clock {
  skipTo(time: number): void
}

export function createSkippingClock(clock: Clock): SkippingClock {
  let skippedMs = 0
  const now = (): number => clock.now() + skippedMs
  return {
    now,
    skipTo(time) {
      skippedMs += Math.max(0, time - now())
    },
  }
}

interface RotatingWorld {
  readonly store: OverlayStore
  readonly tenant: TenantId
  readonly clock: SkippingClock
  readonly archiveRevisions: number
  readonly controller: Controller
}

/** Moves the next deployments of the credentials in cutover, or ends the watch window for which they wait. */
export async function rotateAhead(world: RotatingWorld, labels: readonly string[]): Promise<void> {
  const { store, tenant, clock, archiveRevisions, controller } = world
  const { leadership, onError } = controller.deps
  const inCutover = (): StoredCredential[] =>
    labels
      .flatMap((label) => store.get(inTenant(tenant, credentials, label))?.record ?? [])
      .filter(({ rotation }) => rotation?.phase === 'cutover')
  const moving = inCutover().map(({ label }) => label)
  await reconcileTenant({ store, clock, leadership, archiveRevisions, onError }, tenant, moving)
  for (const credential of inCutover()) skipWatchWindow(world, credential)
}

/** Every container of a moved deployment runs the new version, but its update is watched and might still be rolled back. */
function skipWatchWindow(
  { store, tenant, clock, controller: { due, queue } }: RotatingWorld,
  credential: StoredCredential,
): void {
  const { rotation } = credential
  if (rotation === undefined || rotation.aborting === true) return
  const isWatched = (consumer: RotationConsumer): boolean =>
    !hasProved(consumer, rotation) && hasProved({ ...consumer, held: [] }, rotation)
  for (const consumer of gatherRotation(store, tenant, credential).consumers.filter(isWatched)) {
    const key = workKey({ kind: 'deployment', tenant, name: consumer.name })
    const at = due.timeOf(key)
    if (at === undefined) continue
    clock.skipTo(at)
    due.note(key, undefined)
    queue.add(key)
  }
}
