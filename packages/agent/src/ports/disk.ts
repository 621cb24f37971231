// How full the file systems of this node are.

import type { DiskUse } from '@holdfast/contract'

export interface DiskReader {
  /** The use of the file system with this folder. Rejects if it cannot be read in time. */
  use(folder: string): Promise<DiskUse>
}
