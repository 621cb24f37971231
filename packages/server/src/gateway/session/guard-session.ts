// Limits the effect of an exception to one session: that session is dropped and its agent reconnects, while the process
// and the other sessions continue.

import type { GatewayParts } from '../parts.ts'
import type { Session } from './session.ts'

export function guardSession(
  { context, held }: Pick<GatewayParts, 'context' | 'held'>,
  session: Session,
  act: () => void,
): void {
  try {
    act()
  } catch (error) {
    context.log.warn({ nodeId: session.nodeId, error: String(error) }, 'session failed, disconnecting')
    held.drop(session, 'unavailable')
  }
}
