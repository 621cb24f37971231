// The clock of a simulated machine: it counts the time since the boot, at a rate of its own. A boot restarts it.

import type { VirtualTime } from '../time/virtual-time.ts'

export interface MachineClock {
  /** Number of this boot. A stamp of another boot says nothing about this clock. */
  readonly boot: number
  /** Milliseconds since the boot, as the machine counts them. */
  now(): number
  /** Virtual milliseconds until the clock shows a time; 0 if it has passed. */
  delayUntil(ms: number): number
  /** Changes the rate; 1 is that of virtual time. */
  setRate(rate: number): void
  reboot(): void
}

export function createMachineClock(time: Pick<VirtualTime, 'elapsedMs'>): MachineClock {
  let boot = 1
  let rate = 1
  let since = { elapsedMs: time.elapsedMs, shownMs: 0 }
  const now = (): number => Math.floor(since.shownMs + (time.elapsedMs - since.elapsedMs) * rate)
  return {
    get boot() {
      return boot
    },
    now,
    delayUntil: (ms) => Math.max(0, Math.ceil((ms - now()) / rate)),
    setRate(next) {
      since = { elapsedMs: time.elapsedMs, shownMs: now() }
      rate = next
    },
    reboot() {
      boot += 1
      since = { elapsedMs: time.elapsedMs, shownMs: 0 }
    },
  }
}
