// What is done for one session may fail, as with a set that is too long for one text. Then that session ends, and its agent
// dials again; the process and the other sessions go on.

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
    context.log.warn({ nodeId: session.nodeId, error: String(error) }, 'a session failed and is cut')
    held.drop(session, 'unavailable')
  }
}
