// Limits the effect of an exception to one session: the session is dropped and its agent reconnects, while this process
// and all other sessions continue.

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
