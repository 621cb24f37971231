// The troubles of the control plane, each with the next step, the worst first.

import type { Platform } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'

export interface Trouble {
  readonly severity: 'error' | 'warning'
  readonly title: string
  readonly next: string
}

const words = texts.platform.troubles
/** Above this share of its quota the store needs a person soon. */
const FULL_PERCENT = 80

export function findTroubles({ servers, shards, store, secretsStore, massFailureHold }: Platform): Trouble[] {
  const dead = servers.filter(({ alive }) => !alive).map(({ id }) => id)
  const full = store.usedPercent !== null && store.usedPercent >= FULL_PERCENT ? store.usedPercent : undefined
  return [
    ...when(store.state === 'disconnected', 'error', words.store, words.storeNext),
    ...store.alarms.map(
      (alarm): Trouble => ({
        severity: 'error',
        title: words.alarm(alarm),
        next: words.alarmNext,
      }),
    ),
    ...when(shards.unowned.length > 0, 'error', words.unowned(shards.unowned.length), words.unownedNext),
    ...when(secretsStore.state === 'disconnected', 'error', words.secrets, words.secretsNext),
    ...when(massFailureHold.active, 'error', words.hold(massFailureHold.nodes), words.holdNext),
    ...when(dead.length > 0, 'warning', words.dead(dead), words.deadNext),
    ...when(full !== undefined, 'warning', words.full(full ?? 0), words.fullNext),
  ]
}

const when = (is: boolean, severity: Trouble['severity'], title: string, next: string): Trouble[] =>
  is ? [{ severity, title, next }] : []
