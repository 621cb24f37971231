// File system helpers of the pool. A file that cannot be read is never treated as absent.

import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ifExists } from '../../state/durable-file.ts'

/** The device of a path, which differs between any two subvolumes; undefined if the path is absent. */
export const deviceOf = async (path: string): Promise<number | undefined> => (await ifExists(stat(path)))?.dev

/** Whether something is mounted at the folder. */
export async function isMountPoint(path: string): Promise<boolean> {
  const device = await deviceOf(path)
  return device !== undefined && device !== (await deviceOf(dirname(path)))
}
