// Starts the agent's side of the fencer: the deadlines of this node's volumes, the gate for the starts of their writers, and
// the fences that keep volumes unmounted.

import { join } from 'node:path'
import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import { labelledVolumes, writerLabel, writtenVolumes } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { DesiredSet } from '../converge/desired-set.ts'
import type { Engine } from '../ports/engine.ts'
import type { HostVolumes } from '../ports/host-volumes.ts'
import type { Fences, StartGate } from '../ports/leases.ts'
import { createFencerLink } from './fencer-link.ts'
import { startDeadlineKeeper } from './keep-deadlines.ts'
import { createStartGate, type GateDeps, isLeaseOver } from './start-gate.ts'

interface FencingDeps extends Pick<GateDeps, 'leases' | 'confirmEpoch' | 'timings'> {
  /** The folder of the fencer's files; undefined: this node has no fencer. */
  readonly folder: string | undefined
  readonly engine: Pick<Engine, 'listLabelled'>
  readonly desired: DesiredSet['desired']
  /** The desired copies of this node; undefined until they are known. */
  copies(): ReadonlyMap<VolumeId, DesiredCopy> | undefined
  /** The folder of the mount points. */
  readonly mounts: string
  readonly host: Pick<HostVolumes, 'writerCgroups' | 'killWriters'> | undefined
  /** Called when fences of the volumes have begun or ended. */
  onFences(volumes: readonly VolumeId[]): void
  /** Called when volumes may have to be mounted that a fence kept unmounted. */
  onMountable(): void
  readonly log: Logger
}

export interface Fencing {
  readonly fences: Fences
  readonly gate: StartGate
  /** Whether the volume must stay unmounted. */
  isFenced(volume: VolumeId): boolean
  /** Brings the deadlines in step with the desired copies and containers. */
  check(): void
  close(): void
}

export async function startFencing(deps: FencingDeps): Promise<Fencing> {
  const { folder } = deps
  if (folder === undefined) return withoutFencer(deps)
  const link = createFencerLink(folder)
  const keeper = await startDeadlineKeeper({
    ...deps,
    link,
    copies: () => deps.copies()?.values(),
    together: () => [...deps.desired.values()].map(({ template }) => writtenVolumes(template)),
    writersOf: (volumes) => writersOf(deps.engine, volumes),
    kill: (cgroups) => deps.host?.killWriters(cgroups) ?? false,
    cgroupsOf: (volume) => deps.host?.writerCgroups(volume) ?? [],
    mountPointOf: (volume) => join(deps.mounts, volume),
  })
  const isFencedNow = (volume: VolumeId): boolean =>
    keeper.fencedSince(volume) !== undefined || isLeaseOver(deps, volume)
  /** Volumes that were not mounted because of a fence. */
  const heldBack = new Set<VolumeId>()
  const isFenced = (volume: VolumeId): boolean => {
    const isHeld = isFencedNow(volume)
    if (isHeld) heldBack.add(volume)
    return isHeld
  }
  /** A volume that is being handed over has no writer that a fence could keep from running. */
  const fencedSince = (volume: VolumeId): string | undefined => {
    const copy = deps.copies()?.get(volume)
    const isWritten = copy?.role === 'primary' && copy.handOverTo === undefined
    return isWritten ? keeper.fencedSince(volume) : undefined
  }
  keeper.onChecked((changed) => {
    if (changed.length > 0) deps.onFences(changed)
    const freed = [...heldBack].filter((volume) => !isFencedNow(volume))
    for (const volume of freed) heldBack.delete(volume)
    if (changed.length + freed.length > 0) deps.onMountable()
  })
  return {
    fences: { isWatched: keeper.isWatched, fencedSince },
    gate: createStartGate({ ...deps, fencer: { link, keeper } }),
    isFenced,
    check: () => void keeper.check(),
    close: keeper.close,
  }
}

/** Volumes that need promises have no writer on such a node; the others are not restricted. */
const withoutFencer = (deps: FencingDeps): Fencing => ({
  fences: { isWatched: async () => false, fencedSince: () => undefined },
  gate: createStartGate({ ...deps, fencer: undefined }),
  isFenced: () => false,
  check: () => {},
  close: () => {},
})

async function writersOf(
  engine: Pick<Engine, 'listLabelled'>,
  volumes: readonly VolumeId[],
): Promise<VolumeId[][]> {
  const lists = await Promise.all(volumes.map((volume) => engine.listLabelled(...writerLabel(volume))))
  return lists.flat().map(({ labels }) => labelledVolumes(labels))
}
