// The storage of a node: a pool that holds the node's copies of volumes. Every call has a deadline. A call that cannot
// observe the pool rejects; it never reports an empty pool. See docs/design/storage.md#pools

import type { Readable } from 'node:stream'
import type { PoolWipe, VolumeCheckpoint } from '@holdfast/contract'

/** The folder in the agent's state folder with the mount points of the volumes, each named by its id. */
export const MOUNT_POINTS = 'volumes'

export interface PoolFacts {
  /** Changes when the pool's file system is replaced. */
  readonly fileSystemId: string
  readonly poolBytes: number
  /** The bytes that volumes cannot use any longer, with those that the file system reserves for itself. */
  readonly usedBytes: number
  /** The last order by which all data of the pool was deleted; absent if there was none. */
  readonly wiped?: string
}

/** The tenant that uses a pool. */
export interface PoolOwner {
  readonly tenant: string
  /** The order of a server to delete all data of the pool. */
  readonly order?: PoolWipe
}

/** Data that is kept although it must not be used: of an earlier primary, or of a copy that the node should not have. */
export interface QuarantinedFacts {
  readonly volume: string
  /** The epoch of the data, and its name among several of one epoch. */
  readonly epoch: number
  readonly name: string
  readonly since: string
  /** Undefined while the pool counts its usage again. */
  readonly usedBytes: number | undefined
}

export interface VolumeFacts {
  readonly volume: string
  /** Increases with each change that has reached the disk. */
  readonly generation: number
  /** Undefined if the limit is not yet set, because a `provision` was interrupted. */
  readonly limitBytes: number | undefined
  /** Undefined while the pool counts its usage again. */
  readonly usedBytes: number | undefined
  /** Undefined if the volume is not mounted, such as after a boot. */
  readonly mountPoint: string | undefined
}

export interface CheckpointFacts extends VolumeCheckpoint {
  readonly volume: string
  readonly origin: 'taken' | 'received'
  /** The generation of the volume when the checkpoint was taken; a volume with a higher one has changed since. */
  readonly generation: number
  /** Undefined while the pool counts its usage again. */
  readonly usedBytes: number | undefined
}

export interface PoolContents {
  readonly volumes: readonly VolumeFacts[]
  /** Complete checkpoints only. */
  readonly checkpoints: readonly CheckpointFacts[]
}

/** Length and SHA-256 of all bytes of a stream, by which the receiver proves that it has the sender's bytes. */
export interface StreamDigest {
  readonly bytes: number
  readonly sha256: string
}

export interface CheckpointStream {
  /** Destroying it ends the sending process. */
  readonly stream: Readable
  /** Resolves after the last byte was read; rejects if the stream is incomplete. */
  readonly digest: Promise<StreamDigest>
}

export interface ReceiveRequest extends VolumeCheckpoint {
  readonly volume: string
  /** A longer stream is refused. */
  readonly maxBytes: number
  /** The sender's digest; asked for after the last byte. */
  digest(): Promise<StreamDigest>
}

export interface VolumePool {
  /** Measures the pool. Rejects with `missing` or `changed` if it is no longer the pool that was opened. */
  inspect(): Promise<PoolFacts>
  /** Writes buffered data to disk. Usage and generations are exact afterwards. */
  flush(): Promise<void>
  list(): Promise<PoolContents>
  /**
   * Creates the volume if it is absent, sets its limit and mounts it. Returns the mount point. A second call with another
   * limit resizes the volume; a limit below the usage stops further writes and removes nothing.
   */
  provision(volume: string, limitBytes: number): Promise<string>
  /**
   * Unmounts the volume and deletes it with all its checkpoints and quarantined data; succeeds if it is already gone.
   * Rejects with `busy` while a process or a container uses it.
   */
  remove(volume: string): Promise<void>
  /** Unmounts the volume and deletes its live data like `remove`, but keeps its checkpoints. */
  retire(volume: string): Promise<void>
  /**
   * Unmounts the live data of the volume and puts it into quarantine, read-only; with `all` the checkpoints as well. Rejects
   * with `busy` like `remove`. Succeeds if there is nothing left to move.
   */
  quarantine(volume: string, epoch: number, parts: 'live' | 'all'): Promise<void>
  listQuarantined(): Promise<QuarantinedFacts[]>
  removeQuarantined(quarantined: Pick<QuarantinedFacts, 'volume' | 'name'>): Promise<void>
  /**
   * Reads all quarantined data of an epoch as a tar archive; undefined if there is none. Links are stored as links, whatever
   * they point to.
   */
  readQuarantined(volume: string, epoch: number): Promise<CheckpointStream | undefined>
  /** The number of file systems that a container created inside the volume: checkpoints and usage leave them out. */
  countNested(volume: string): Promise<number>
  /** Takes a checkpoint of the mounted volume; succeeds if the checkpoint already exists. */
  takeCheckpoint(volume: string, checkpoint: VolumeCheckpoint): Promise<void>
  removeCheckpoint(volume: string, checkpoint: VolumeCheckpoint): Promise<void>
  /** Makes a checkpoint the content of a volume that is absent; `provision` then sets its limit and mounts it. */
  restore(volume: string, checkpoint: VolumeCheckpoint): Promise<void>
  /** Reads a checkpoint, or only the changes since a base that the receiver has. */
  send(volume: string, checkpoint: VolumeCheckpoint, base?: VolumeCheckpoint): CheckpointStream
  /**
   * Stores a checkpoint of another node. When it resolves, the checkpoint is verified, listed and on disk. A chunk of the
   * input is not used after the next one is requested.
   */
  receive(input: AsyncIterable<Buffer>, request: ReceiveRequest): Promise<void>
  /** The texts of all notes by name. A note is a small file in the pool, so it shares the fate of the volumes. */
  readNotes(): Promise<ReadonlyMap<string, string>>
  /** Replaces a note; it is on disk when this resolves. */
  writeNote(name: string, text: string): Promise<void>
  /** Removes a note; succeeds if it is already gone. */
  removeNote(name: string): Promise<void>
}

/**
 * Kinds of pool errors. `missing`: the pool that this node had is absent. `changed`: another pool is in its place.
 * `foreign`: it has data of another tenant. `unsupported`: path, kernel or tools cannot hold a pool. `full`: no space. `corrupt`: a stream is not what the sender
 * sent. `interrupted`: a stream ended early. `timeout`: the outcome is unknown.
 */
export type PoolFault =
  | 'missing'
  | 'changed'
  | 'foreign'
  | 'unsupported'
  | 'unreadable'
  | 'full'
  | 'busy'
  | 'corrupt'
  | 'interrupted'
  | 'timeout'
  | 'failed'

/** The command behind a pool error. */
export interface FailedCommand {
  readonly command: string
  /** Undefined if the command did not start or was killed. */
  readonly exitCode: number | undefined
  readonly lastLine: string
}

export interface ForeignPool {
  readonly fileSystemId: string
  /** The tenant of the data. */
  readonly tenant: string | undefined
}

export class PoolError extends Error {
  readonly fault: PoolFault
  readonly failed: FailedCommand | undefined
  /** The pool, if it has data of another tenant. */
  readonly foreign: ForeignPool | undefined

  constructor(fault: PoolFault, message: string, failed?: FailedCommand, foreign?: ForeignPool) {
    super(message)
    this.name = 'PoolError'
    this.fault = fault
    this.failed = failed
    this.foreign = foreign
  }
}
