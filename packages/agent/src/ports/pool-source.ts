// The pool that the operator names on the agent's command line.

export interface PoolSource {
  /** The mount point of a btrfs file system or subvolume; with a size, the file that holds the pool. */
  readonly path: string
  /** The size with which the agent creates the file, if it is absent. */
  readonly sizeBytes: number | undefined
}
