// Stops a server without failed requests: readiness ends first, and the listener closes when clients had time to notice.

import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '../compose.ts'

/**
 * Resolves when the server has stopped. `drainMs`: how long /readyz fails before the listener closes, and then the longest
 * time within which the sessions of agents end. `hurry` ends the wait.
 */
export async function drain(
  server: Pick<Server, 'announceStop' | 'close'>,
  drainMs: number,
  hurry: AbortSignal,
): Promise<void> {
  server.announceStop()
  if (!hurry.aborted && drainMs > 0) await wait(drainMs, undefined, { signal: hurry }).catch(() => {})
  await server.close(hurry.aborted ? 0 : drainMs)
}
