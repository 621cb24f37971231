// Unmounts volumes for the fencer. A mount in use is detached: it is gone from the tree of mounts at once, and from the
// kernel when its last file is closed. No other package is imported.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { onMachine } from './machine-mounts.ts'
import { parseMountTable } from './mount-table.ts'

const MOUNT_TABLE = '/proc/self/mountinfo'
const UNMOUNT_MS = 10_000

type Log = (fields: { readonly [name: string]: unknown }, message: string) => void

/** Returns a function that starts to unmount the paths that are mounted and not being unmounted. It does not wait. */
export function createUnmounter(log: Log): (paths: readonly string[]) => void {
  const underWay = new Set<string>()
  const failed = new Set<string>()
  const unmount = (path: string, args: readonly string[]): void => {
    execFile(...onMachine('umount', [...args, path]), { timeout: UNMOUNT_MS }, (error) => {
      if (error !== null && args.length === 0) return unmount(path, ['--lazy'])
      underWay.delete(path)
      if (error === null) log({ path, lazy: args.length > 0 }, 'volume unmounted')
      else if (!failed.has(path)) log({ path, error: error.message }, 'volume could not be unmounted')
      if (error === null) failed.delete(path)
      else failed.add(path)
    })
  }
  return (paths) => {
    const mounted = new Set(parseMountTable(readFileSync(MOUNT_TABLE, 'utf8')).map(({ point }) => point))
    for (const path of paths.filter((one) => mounted.has(one) && !underWay.has(one))) {
      underWay.add(path)
      unmount(path, [])
    }
  }
}
