// Whether this process may mount. The unit of the agent grants that right only with the drop-in for a pool.

import { readFileSync } from 'node:fs'

/** The number of CAP_SYS_ADMIN among the capabilities of Linux. */
const SYS_ADMIN = 21n

/** `status`: the content of /proc/self/status. Without a readable value the right is assumed, and a mount shows its own error. */
export function mayMount(status = readFileSync('/proc/self/status', 'latin1')): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? []
  return effective === undefined || ((BigInt(`0x${effective}`) >> SYS_ADMIN) & 1n) === 1n
}
