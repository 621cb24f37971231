// How full the disk of a node is, in words.

import type { DiskUse, Node } from '@holdfast/contract'
import { memory } from './amounts.ts'
import { shareOf } from './volume.ts'

/** The used share and the free bytes of the engine's disk; empty if the agent has reported none. */
export const diskText = ({ disks }: Pick<Node, 'disks'>): string =>
  disks === undefined ? '' : useText(disks.engine)

/** Inodes only where they are scarcer than bytes. */
function useText({ totalBytes, freeBytes, inodes, freeInodes }: DiskUse): string {
  if (totalBytes === 0) return ''
  const bytes = `${shareOf(totalBytes - freeBytes, totalBytes)} used, ${memory(freeBytes)} of ${memory(totalBytes)} free`
  if (inodes === 0 || freeInodes / inodes >= freeBytes / totalBytes) return bytes
  return `${bytes}, ${shareOf(inodes - freeInodes, inodes)} of its inodes used`
}
