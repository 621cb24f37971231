// Reads from the kernel's table of mounts whether a volume is mounted.

import { readFile } from 'node:fs/promises'
import type { HostVolumes } from '../../ports/host-volumes.ts'

const MOUNT_TABLE = '/proc/self/mountinfo'
/** The folder of the volumes in a pool. A mount of a volume shows its place in the pool's file system. */
const PLACE = '/volumes/'

/** A mount by its place in the file system, its mount point and its file system. */
export interface MountLine {
  readonly root: string
  readonly point: string
  readonly type: string
}

export const createMountTable = (
  read = (): Promise<string> => readFile(MOUNT_TABLE, 'utf8'),
): Pick<HostVolumes, 'isMounted'> => ({
  async isMounted(path, volume) {
    // Of several mounts at one point, the last one is visible.
    const mount = parseMountTable(await read()).findLast(({ point }) => point === path)
    return mount !== undefined && mount.type === 'btrfs' && mount.root.endsWith(`${PLACE}${volume}`)
  },
})

export const parseMountTable = (text: string): MountLine[] =>
  text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root, point] = before.split(' ')
    const [type] = after.split(' ')
    return root && point && type ? [{ root: plainPath(root), point: plainPath(point), type }] : []
  })

/** The kernel writes a space, a tab, a line feed and a backslash as octal numbers. */
const plainPath = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
