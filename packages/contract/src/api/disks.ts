// How full the disks of a node are.

import { type Infer, integer, object, optional } from '../shapes/shape.ts'

/** How full a file system is. A file system without a limit of inodes has 0 of them. */
export const diskUseShape = object({
  /** The bytes that programs can use, without those that only the administrator may use. */
  totalBytes: integer(),
  freeBytes: integer(),
  inodes: integer(),
  freeInodes: integer(),
})
export type DiskUse = Infer<typeof diskUseShape>

/** The disks of a node, as its agent reported them last. */
export const nodeDisksShape = object({
  /** The file system of the images and containers of the engine. */
  engine: diskUseShape,
  /** The file system of the storage pool; absent without a pool. */
  pool: optional(diskUseShape),
})
export type NodeDisks = Infer<typeof nodeDisksShape>
