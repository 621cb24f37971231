// The fencer of a simulated machine, as the machine and its agent use it.

import type { VolumeId } from '@holdfast/contract'
import type { LeasedVolume } from '@holdfast/core/promotion/plan-deadlines'
import type { SimulatedProcess } from '../../time/virtual-time.ts'

export interface Fencer {
  /** The process, which can be paused with its machine. */
  readonly process: SimulatedProcess
  /** Replaces the file of the deadlines, as the agent does when a lease changes. */
  write(primaries: readonly LeasedVolume[]): void
  /** Whether the fencer would end the writers of the volume in time, by its last report. */
  isGuarding(volume: VolumeId): boolean
  /** Since when the volume is fenced, as a date; undefined if it is not. */
  fencedSince(volume: VolumeId): string | undefined
  /** Called after the start of a container, which appears in the cgroups that the fencer watches. */
  onStarted(): void
  /** Ends the process. It is started again after a time, unless the machine has no power then. */
  kill(forMs: number): void
  powerOff(): void
  powerOn(): void
}
