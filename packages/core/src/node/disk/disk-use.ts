// How full is a file system, and when is a disk under pressure? See docs/design/agent.md#disk

/** The sizes of a file system as `statfs` has them. A file system without a limit of inodes has 0 of them. */
export interface DiskUse {
  readonly totalBytes: number
  /** Bytes that programs may still write. */
  readonly freeBytes: number
  readonly inodes: number
  readonly freeInodes: number
}

/** The used part in percent, as `df` shows it: of bytes or of inodes, whichever is larger. */
export const usedPercent = ({ totalBytes, freeBytes, inodes, freeInodes }: DiskUse): number =>
  Math.max(share(totalBytes, freeBytes), share(inodes, freeInodes))

const share = (total: number, free: number): number =>
  total <= 0 ? 0 : Math.min(100, Math.max(0, (100 * (total - free)) / total))
