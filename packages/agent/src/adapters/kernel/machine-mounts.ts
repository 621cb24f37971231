// Command lines that mount or unmount for the whole machine. Mounts in a unit's own tree stay there, but mounts of the
// machine appear in it, so such a unit names the machine's tree in a variable. No other package is imported.

import { env } from 'node:process'

/** The tree of mounts of the machine, as a file such as /proc/1/ns/mnt; unset: the tree of this process. */
const MACHINE_TREE = 'HOLDFAST_MOUNT_NAMESPACE'

/** The command and its arguments, run in the machine's tree of mounts if this process has its own. */
export function onMachine(
  command: string,
  args: readonly string[],
  tree = env[MACHINE_TREE],
): [string, readonly string[]] {
  return tree === undefined ? [command, args] : ['nsenter', [`--mount=${tree}`, '--', command, ...args]]
}
