// Gives the agent's parts access to the session before it exists: the session needs those parts first.

import type { Session } from '../ports/session.ts'

export interface ServerLink extends Omit<Session, 'close'> {
  /** Call this before any of the other functions. */
  attach(session: Session): void
}

export function createServerLink(): ServerLink {
  let attached: Session | undefined
  const session = (): Session => {
    if (attached === undefined) throw new Error('the session is used before it is attached')
    return attached
  }
  return {
    attach(given) {
      attached = given
    },
    report: (observations) => session().report(observations),
    reportOrphans: (names) => session().reportOrphans(names),
    registryCredential: (host) => session().registryCredential(host),
    containerEnvironment: (id) => session().containerEnvironment(id),
  }
}
