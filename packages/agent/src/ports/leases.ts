// The leases of the volumes that this node writes, and the fencer that ends their writers in time.
// See docs/design/promotion.md#primary

import type { VolumeId } from '@holdfast/contract'

export interface Leases {
  /**
   * End of the volume's lease on CLOCK_BOOTTIME. Infinite if no promise is needed; negative infinity if promises are
   * needed and none is known, or if the volume was handed over.
   */
  endMs(volume: VolumeId): number
  /** Whether this node has lost its record of the promises, so it does not know whether any is needed. */
  isForgotten?(volume: VolumeId): boolean
  /** Calls the function after any change of an end. */
  onChange(listener: () => void): void
}

export interface Fences {
  /**
   * Whether a living fencer watches the writers of the volume and knows a finite end of their lease. A primary asks for a
   * promotable node only afterwards: an agent that dies then still leaves a fencer that acts.
   */
  isWatched(volume: VolumeId): Promise<boolean>
  /** Since when a fence keeps the writers of the volume from running; undefined: none does. */
  fencedSince(volume: VolumeId): string | undefined
}

/** Throws if a container that writes the volumes must not be started now. To be called right before each start. */
export type RequireLease = (volumes: readonly VolumeId[]) => Promise<void>

/** Whether writers may be started. */
export interface StartGate {
  readonly require: RequireLease
  /** Calls the listener after leases or the fencer may have changed; `mayStart` states whether `require` would pass then. */
  onChecked(listener: (mayStart: (volumes: readonly VolumeId[]) => boolean) => void): void
  /** Why a writer of the volumes was killed just now, if its lease ended. */
  explainKill(volumes: readonly VolumeId[]): Promise<string | undefined>
}
