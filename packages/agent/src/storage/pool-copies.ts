// Reads the data, checkpoints and notes of each volume from the pool. Notes are files in the pool,
// because a new installation of the agent must know the epochs of the volumes that it finds.

import {
  asVolumeId,
  boolean,
  branded,
  checkpointShape,
  decodeOpen,
  encodeOpen,
  integer,
  type NodeId,
  type OfferedCopy,
  object,
  optional,
  type VolumeId,
} from '@holdfast/contract'
import {
  type CopyAction,
  type CopyNote,
  compareCheckpoints,
  type FoundCopy,
  offerOf,
} from '@holdfast/core/node'
import type { CheckpointFacts, QuarantinedFacts, VolumeFacts, VolumePool } from '../ports/volume-pool.ts'

const noteShape = object({
  v: integer(),
  epoch: integer(),
  content: optional(object({ epoch: integer(), isMade: boolean() })),
  released: optional(object({ to: branded<NodeId>(), checkpoint: checkpointShape })),
  isRemoved: optional(boolean()),
})

/** The content of the pool by volume. */
export interface PoolCopies {
  /** The data, checkpoints and note of the volume; undefined if its note cannot be read, so nothing may be done with it. */
  find(volume: string): (FoundCopy & { readonly usedBytes: number | undefined }) | undefined
  /** The volumes of which the pool has data or checkpoints. */
  readonly volumes: ReadonlySet<string>
  /** The volumes of which only a note is left. */
  readonly removed: readonly string[]
  readonly quarantined: readonly QuarantinedFacts[]
}

export async function readPoolCopies(pool: VolumePool): Promise<PoolCopies> {
  const { volumes, checkpoints } = await pool.list()
  const notes = await pool.readNotes()
  const quarantined = await pool.listQuarantined()
  const live = new Map(volumes.map((one) => [one.volume, one]))
  const ofVolume = Map.groupBy(checkpoints, ({ volume }) => volume)
  const held = new Set([...live.keys(), ...ofVolume.keys()])
  return {
    volumes: held,
    quarantined,
    removed: [...notes]
      .filter(([name, text]) => !held.has(name) && isRemovalNote(text))
      .map(([name]) => name),
    find(volume) {
      const note = decodeNote(notes.get(volume))
      if (note === 'unreadable') return undefined
      const found = { live: live.get(volume), checkpoints: ofVolume.get(volume) ?? [] }
      const isQuarantined = quarantined.some((one) => one.volume === volume)
      return { ...found, note, isQuarantined, usedBytes: usedBytesOf(found) }
    },
  }
}

/** All that the pool offers. A volume whose note cannot be read is left out, so nothing is decided about it. */
export function offersIn(held: PoolCopies): OfferedCopy[] {
  return [...held.volumes].toSorted().flatMap((name) => {
    const found = held.find(name)
    return (found && offerOf(asVolumeId(name), found)) ?? []
  })
}

/** The bytes of the live data, or of the newest checkpoint of a replica. */
function usedBytesOf({
  live,
  checkpoints,
}: {
  readonly live: VolumeFacts | undefined
  readonly checkpoints: readonly CheckpointFacts[]
}): number | undefined {
  if (live !== undefined) return live.usedBytes
  return checkpoints.toSorted(compareCheckpoints).at(-1)?.usedBytes
}

function decodeNote(text: string | undefined): CopyNote | undefined | 'unreadable' {
  if (text === undefined) return undefined
  try {
    return decodeOpen(noteShape, JSON.parse(text))
  } catch {
    return 'unreadable'
  }
}

function isRemovalNote(text: string): boolean {
  const note = decodeNote(text)
  return typeof note === 'object' && note.isRemoved === true
}

export async function perform(pool: VolumePool, volume: VolumeId, action: CopyAction): Promise<void> {
  switch (action.kind) {
    case 'note':
      return pool.writeNote(volume, `${encodeOpen({ ...action.note, v: 1 })}\n`)
    case 'provision':
      return void (await pool.provision(volume, action.limitBytes))
    case 'restore':
      return pool.restore(volume, action.from)
    case 'quarantine':
      return pool.quarantine(volume, action.epoch, 'live')
    case 'retire':
      return pool.retire(volume)
    case 'remove':
      return pool.remove(volume)
  }
}
